export { RecordRebuilder, type StoredRecord } from './batch/record-rebuilder.js';
export { TRANSFORM_TABLES } from './tables/index.js';
export { TRANSFORM_VERSION } from './version.js';
export { findMissingRows } from './worker/missing-rows.js';
export { rollUpNextBlocks } from './worker/roll-up-blocks.js';
export { rollUpNextDay } from './worker/roll-up-days.js';
export { rollUpNextTrades } from './worker/roll-up-trades.js';
export { TransformWorker } from './worker/worker.js';
export type { WorkerConfig } from './worker/worker-config.js';
