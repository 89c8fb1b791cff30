import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { ensureTopics, openEmbeddedBus, openKafkaBus } from '../../bus/index.js';
import { CollectorMetrics } from '../../collectors/metrics.js';
import { Publisher } from '../../collectors/publisher.js';
import { createLogger, processSignal, Random, systemClock, TOPICS } from '../../core/index.js';
import { Acknowledged } from './acknowledged.js';
import { ambiguous } from './ambiguous-bus.js';
import { RecordSource } from './record-source.js';
import type { AppenderOptions } from './stage.js';

/**
 * Appends test records through the product's publisher, and writes to disk (fsync) which of them were acknowledged. The stage
 * runs it as a process.
 */
const TICK_MS = 20;

const options = JSON.parse(process.argv[2] ?? '{}') as AppenderOptions;
const signal = processSignal(process.stdin);
const random = new Random(options.seed);
const bus = ambiguous(
  options.kafka ? openKafkaBus(options.kafka) : openEmbeddedBus({ dir: options.dir }),
  random,
  options.hugeFrames,
);
const log = createLogger({ service: 'appender', level: 'fatal' });
await ensureTopics(bus, Object.values(TOPICS), options.topic, { log, signal });
const publisher = new Publisher({
  bus,
  clock: systemClock,
  metrics: new CollectorMetrics(new Registry()),
  log,
});
const acknowledged = new Acknowledged(options.acknowledgedFile, publisher.sessionId);
const source = new RecordSource(random, publisher.sessionId, options.hugeFrames);
publisher.run().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
process.stdout.write(`${JSON.stringify({ ready: true, sessionId: publisher.sessionId })}\n`);

while (!signal.aborted) {
  for (let due = (options.recordsPerSecond * TICK_MS) / 1000; due > random.next(); due--) {
    const record = source.next();
    const done = acknowledged.expect(record);
    void publisher.publish(record).then(done);
  }
  acknowledged.flush();
  await publisher.whenWritable();
  await delay(TICK_MS);
}
await publisher.drain(20_000);
acknowledged.flush();
await bus.close();
process.exit(0);
