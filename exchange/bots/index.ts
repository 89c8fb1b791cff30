export { Crew, type CrewOptions } from './crew.js';
export type { OpenOrder, OrderGateway, Quote, Quotes, Strategy } from './gateway.js';
export { MarketFeed } from './market-feed.js';
export { MarketLife, type MarketLifeOptions } from './market-life.js';
export { World } from './world.js';
