export { Collector } from './collector.js';
export type { CollectorOptions } from './collector-options.js';
export { SCHEDULES, type SchedulePatterns } from './schedules.js';
