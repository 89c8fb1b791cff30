export { Collector, type CollectorOptions } from './collector.js';
export { exchangeAddresses } from './exchange-addresses.js';
