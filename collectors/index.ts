export { checkCollectorSettings } from './check-settings.js';
export { Collector } from './collector.js';
export type { CollectorOptions } from './collector-options.js';
