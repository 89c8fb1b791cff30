export { type Blocks, MemoryBlocks } from './blocks.js';
export { DataFolder } from './data-folder.js';
export { keptSecret } from './kept-secret.js';
export { type SavedSeries, Series } from './series.js';
