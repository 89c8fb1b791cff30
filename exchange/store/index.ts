export { type Blocks, MemoryBlocks } from './blocks.js';
export { DataFolder } from './data-folder.js';
export { type SavedSeries, Series } from './series.js';
export { readOrCreateSecret } from './stored-secret.js';
