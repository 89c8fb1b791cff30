export { MarketLife } from './market-life.js';
export { World } from './world.js';
