export { Broker } from './broker.js';
export { describeWithKafka, type KafkaUnderTest } from './describe.js';
export { API, type Fate, type KafkaProxy } from './proxy.js';
