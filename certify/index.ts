export { compareAll, isOutstanding } from './certify.js';
export type { Comparison } from './comparison.js';
export { type Action, type KilledService, planOf, sizeOf } from './plan.js';
export type { Query, StreamCoverage } from './recorded.js';
export { type Certificate, isPassed, reportLines } from './report.js';
export { ControlInterface, type FaultRequest, type UsedFault } from './truth.js';
