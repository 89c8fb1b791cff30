export { TRANSFORM_TABLES } from './tables/index.js';
export { TRANSFORM_VERSION } from './version.js';
export { TransformWorker, type TransformWorkerOptions, type WorkerConfig } from './worker/worker.js';
