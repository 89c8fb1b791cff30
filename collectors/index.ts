export { exchangeAddresses } from './exchange-addresses.js';
export { Collector, type CollectorOptions } from './runner.js';
