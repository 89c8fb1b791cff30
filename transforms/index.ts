export { TRANSFORM_TABLES } from './tables/index.js';
