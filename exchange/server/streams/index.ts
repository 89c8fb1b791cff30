export { BalanceStream } from './balance-stream.js';
export { ChanceFeed } from './chance-feed.js';
export { ChanceStream } from './chance-stream.js';
export { LoadGenerator } from './load-generator.js';
export { OrderBookStream } from './order-book-stream.js';
export { OrderStream } from './order-stream.js';
export { StreamServer } from './stream-server.js';
