export { Collector, type CollectorOptions } from './runner.js';
