export { TRANSFORM_TABLES } from './tables/index.js';
export { TRANSFORM_VERSION } from './version.js';
export { findMissingRows } from './worker/missing-rows.js';
export { TransformWorker } from './worker/worker.js';
export type { WorkerConfig } from './worker/worker-config.js';
