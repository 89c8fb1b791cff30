export { MarketLife, type MarketLifeOptions } from './market-life.js';
export { World } from './world.js';
