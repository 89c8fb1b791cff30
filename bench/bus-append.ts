import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bus, type BusRecord, openEmbeddedBus } from '../bus/index.js';

export interface BenchFigure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

const TOPIC = 'bench';
const RECORDS = 1_000_000;
const PER_APPEND = 500;
const RECORD_BYTES = 200;
const TRICKLE = 300;

/**
 * The embedded log alone: durable appends by one caller that always awaits its last append (as a collector does), the
 * same records read back, and the time from an append's start to its record in a consumer's hands, one at a time.
 */
export async function benchBusAppend(): Promise<BenchFigure[]> {
  const dir = await mkdtemp(join(tmpdir(), 'chancery-bench-bus-'));
  const bus = openEmbeddedBus({ dir });
  try {
    await bus.ensureTopic(TOPIC, { partitions: 4, retentionMs: null, retentionBytes: null });
    const appended = await append(bus);
    const read = await readAll(bus);
    const delays = await trickle(bus);
    return [
      { name: `embedded log, durable append, ${PER_APPEND} records of ${RECORD_BYTES} bytes at a time`, ...appended },
      { name: 'embedded log, read into batches', ...read },
      { name: 'embedded log, one record from append to consumer, p99', value: quantile(delays, 0.99), unit: 'ms' },
    ];
  } finally {
    await bus.close();
    await rm(dir, { recursive: true, force: true });
  }
}

async function append(bus: Bus): Promise<{ value: number; unit: string }> {
  const keys = Array.from({ length: 40 }, (_, i) => `event-${i}`);
  const value = Buffer.alloc(RECORD_BYTES, 'x');
  const start = performance.now();
  for (let sent = 0; sent < RECORDS; sent += PER_APPEND) {
    const records: BusRecord[] = [];
    for (let i = 0; i < PER_APPEND; i++) records.push({ key: keys[(sent + i) % keys.length] ?? '', value });
    await bus.append(TOPIC, records);
  }
  return { value: Math.round(RECORDS / ((performance.now() - start) / 1000)), unit: 'records/s' };
}

async function readAll(bus: Bus): Promise<{ value: number; unit: string }> {
  const start = performance.now();
  let records = 0;
  let check = 0;
  for (const { topic, partition, begin, end } of await bus.partitions()) {
    if (end === begin) continue;
    for await (const batch of bus.read(topic, partition, begin, end - 1)) {
      for (let i = 0; i < batch.count; i++) check += batch.bytes[batch.bounds[i] ?? 0] ?? 0;
      records += batch.count;
    }
  }
  const seconds = (performance.now() - start) / 1000;
  if (records !== RECORDS || check !== RECORDS * 'x'.charCodeAt(0)) throw new Error('read something else than written');
  return { value: Math.round(records / seconds), unit: 'records/s' };
}

async function trickle(bus: Bus): Promise<number[]> {
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
  for (let i = 0; i < TRICKLE; i++) {
    const arrived = new Promise<void>((resolve) => {
      received = resolve;
    });
    sentAt = performance.now();
    await bus.append(topic, [{ key: 'k', value: Buffer.from(`${i}`) }]);
    await arrived;
  }
  stop.abort();
  await consuming;
  // The first waits for the consumer to join.
  return delays.slice(1);
}

function quantile(values: number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.floor(q * (sorted.length - 1))] ?? 0) * 100) / 100;
}
