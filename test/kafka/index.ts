export { describeWithKafka } from './describe.js';
export { API, type ProxyFault } from './proxy.js';
