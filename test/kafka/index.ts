export { Broker, type BrokerOptions } from './broker.js';
export { describeWithKafka, type KafkaUnderTest } from './describe.js';
