import { Registry } from 'prom-client';
import type { Bus, BusRecord } from '../bus/index.js';
import { CollectorMetrics } from '../collectors/metrics.js';
import { Publisher, type ReceivedRecord } from '../collectors/publisher.js';
import { createLogger, deferred, systemClock, TOPICS } from '../core/index.js';
import type { BenchFigure } from './bench.js';
import { quantile } from './quantile.js';

const TOPIC = 'bench';
const PER_APPEND = 500;
const RECORD_BYTES = 200;

/**
 * A bus alone: durable appends by one producer that awaits each append, reading and consuming the same records, order book
 * frames through a collector's publisher, and the latency from the start of an append to the consumer, one record at a
 * time.
 * @param name the name of the bus in the figures
 */
export async function busFigures(
  bus: Bus,
  name: string,
  sizes: { readonly records: number; readonly trickle: number },
): Promise<BenchFigure[]> {
  await bus.ensureTopic(TOPIC, { partitions: 4, retentionMs: null, retentionBytes: null });
  const appended = await append(bus, sizes.records);
  const read = await readAll(bus, sizes.records);
  const consumed = await consumeAll(bus, sizes.records);
  const published = await publish(bus, sizes.records);
  const delays = await trickle(bus, sizes.trickle);
  const batches = `batches of ${PER_APPEND} records of ${RECORD_BYTES} bytes`;
  return [
    { name: `${name}, durable append, ${batches}`, value: appended, unit: 'records/s' },
    { name: `${name}, read in batches`, value: read, unit: 'records/s' },
    { name: `${name}, consumed in a group`, value: consumed, unit: 'records/s' },
    { name: `${name}, durable append by a collector's publisher`, value: published, unit: 'records/s' },
    {
      name: `${name}, latency of one record from append to consumer, p50`,
      value: Math.round(quantile(delays, 0.5) * 100) / 100,
      unit: 'ms',
    },
    {
      name: `${name}, latency of one record from append to consumer, p99`,
      value: Math.round(quantile(delays, 0.99) * 100) / 100,
      unit: 'ms',
    },
  ];
}

async function append(bus: Bus, count: number): Promise<number> {
  const keys = Array.from({ length: 40 }, (_, i) => `event-${i}`);
  const value = Buffer.alloc(RECORD_BYTES, 'x');
  const start = performance.now();
  for (let sent = 0; sent < count; sent += PER_APPEND) {
    const records: BusRecord[] = [];
    for (let i = 0; i < PER_APPEND; i++) records.push({ key: keys[(sent + i) % keys.length] ?? '', value });
    await bus.append(TOPIC, records);
  }
  return perSecond(count, start);
}

async function readAll(bus: Bus, count: number): Promise<number> {
  const start = performance.now();
  let records = 0;
  let check = 0;
  for (const { topic, partition, begin, end } of await bus.partitions()) {
    if (end === begin) continue;
    for await (const batch of bus.read(topic, partition, begin, end - 1)) {
      for (let i = 0; i < batch.count; i++) check += batch.bytes[batch.bounds[2 * i] ?? 0] ?? 0;
      records += batch.count;
    }
  }
  const rate = perSecond(records, start);
  if (records !== count || check !== count * 'x'.charCodeAt(0))
    throw new Error('the records that were read are not those that were written');
  return rate;
}

/** From the first assignment to the last record. */
async function consumeAll(bus: Bus, count: number): Promise<number> {
  const stop = new AbortController();
  let start = 0;
  let records = 0;
  let rate = 0;
  const handler = {
    onAssigned: async () => {
      start ||= performance.now();
      return 0;
    },
    onBatch: async (_: unknown, batch: { count: number }) => {
      records += batch.count;
      if (records < count) return;
      rate = perSecond(records, start);
      stop.abort();
    },
    onRevoked: async () => undefined,
  };
  await bus.consume({ topics: [TOPIC], group: 'bench-all' }, handler, stop.signal);
  return rate;
}

/** Single-entry frames passed to a collector's publisher, from the first one until all are durable. */
async function publish(bus: Bus, count: number): Promise<number> {
  await bus.ensureTopic(TOPICS.orderBook, { partitions: 4, retentionMs: null, retentionBytes: null });
  const metrics = new CollectorMetrics(new Registry());
  const log = createLogger({ service: 'bench', level: 'error' });
  const publisher = new Publisher({ bus, clock: systemClock, metrics, log });
  void publisher.run();
  const start = performance.now();
  for (let i = 0; i < count; i++) if (!publisher.push(frame(i))) await publisher.whenWritable();
  const left = await publisher.drain(60_000);
  if (left > 0) throw new Error(`${left} records are not on the bus after a minute`);
  return perSecond(count, start);
}

const REQUEST = '{"stream":"order-book","connection":"0e9d5d0c-6f0d-4d55-8a11-6a2f3b7c9d10"}';

function frame(i: number): ReceivedRecord {
  const cents = String(2 + (i % 96)).padStart(2, '0');
  const price = `{"o":"a0000000-0000-4000-8000-${String(i % 480).padStart(12, '0')}","c":0.${cents},"b":0.01,"a":0.99}`;
  const key = `e0000000-0000-4000-8000-${String(i % 40).padStart(12, '0')}`;
  const bodyJson = `{"t":"PRICES_DATA_DELTA","e":"${key}","d":[${price}]}`;
  return { kind: 'order-book.frame', key, receivedAt: systemClock.nowMicros(), requestJson: REQUEST, bodyJson };
}

async function trickle(bus: Bus, count: number): Promise<number[]> {
  const topic = 'trickle';
  await bus.ensureTopic(topic, { partitions: 1, retentionMs: null, retentionBytes: null });
  const stop = new AbortController();
  const delays: number[] = [];
  let sentAt = 0;
  let received: (() => void) | undefined;
  const handler = {
    onAssigned: async () => 0,
    onBatch: async () => {
      delays.push(performance.now() - sentAt);
      received?.();
    },
    onRevoked: async () => undefined,
  };
  const consuming = bus.consume({ topics: [topic], group: 'bench' }, handler, stop.signal);
  for (let i = 0; i < count; i++) {
    const { promise: arrived, resolve } = deferred();
    received = resolve;
    sentAt = performance.now();
    await bus.append(topic, [{ key: 'k', value: Buffer.from(`${i}`) }]);
    await arrived;
  }
  stop.abort();
  await consuming;
  // The first one includes the time in which the consumer joins the group.
  return delays.slice(1);
}

const perSecond = (count: number, start: number): number => Math.round(count / ((performance.now() - start) / 1000));
