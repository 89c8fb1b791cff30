import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { type Bus, type BusRecord, BusWriteError, openEmbeddedBus } from '../../bus/index.js';
import { CollectorMetrics } from '../../collectors/metrics.js';
import { Publisher, type ReceivedRecord } from '../../collectors/publisher.js';
import { deferred, encodeBody, type RawRecord, systemClock, TOPICS } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { memoryLog, recordsOf } from './rig.js';

/** For tests in which the duration of an append does not matter. */
const PATIENT_MS = 20_000;

const frame = (body: string, key = 'event'): ReceivedRecord => ({
  kind: 'order-book.frame',
  key,
  receivedAt: systemClock.nowMicros(),
  requestJson: '{"stream":"order-book"}',
  ...encodeBody(Buffer.from(body)),
});

/** A real bus whose appends can be delayed or made to fail. */
async function brittleBus(options: { maxRecordBytes?: number } = {}) {
  const real = openEmbeddedBus({ dir: temporaryFolder(), retentionEveryMs: 0, ...options });
  for (const topic of Object.values(TOPICS)) {
    await real.ensureTopic(topic, { partitions: 2, retentionMs: null, retentionBytes: null });
  }
  const attempts: { topic: string; records: readonly BusRecord[]; done: boolean }[] = [];
  const control = { failures: 0, gate: Promise.resolve(), attempts, afterAppend: false };
  const bus: Bus = Object.create(real, {
    maxRecordBytes: { value: real.maxRecordBytes },
    append: {
      value: async (topic: string, records: readonly BusRecord[]) => {
        const attempt = { topic, records, done: false };
        attempts.push(attempt);
        await control.gate;
        const fails = control.failures > 0;
        if (fails) control.failures -= 1;
        if (fails && !control.afterAppend) throw new BusWriteError('the disk is full');
        const positions = await real.append(topic, records);
        if (fails) throw new BusWriteError('the answer was lost');
        attempt.done = true;
        return positions;
      },
    },
  });
  return { bus, real, control };
}

function publisherOn(bus: Bus, queueBytes?: number) {
  const { log, lines } = memoryLog();
  const metrics = new CollectorMetrics(new Registry());
  const publisher = new Publisher({ bus, clock: systemClock, metrics, log, ...(queueBytes ? { queueBytes } : {}) });
  const running = publisher.run();
  running.catch(() => undefined);
  return { publisher, running, lines };
}

describe('the publisher', () => {
  it('has a watermark at its start while the bus has accepted nothing yet', async () => {
    const { bus, real, control } = await brittleBus();
    const { promise, resolve: open } = deferred();
    control.gate = promise;
    const before = systemClock.nowMicros();
    const { publisher } = publisherOn(bus);
    const received = frame('{"e":"1"}');
    publisher.push(received);
    expect(publisher.watermark).toBeGreaterThanOrEqual(before);
    expect(publisher.watermark).toBeLessThanOrEqual(received.receivedAt);
    open();
    await publisher.drain(PATIENT_MS);
    await real.close();
  });

  it('numbers records per topic from 1 and preserves their order', async () => {
    const { bus, real } = await brittleBus();
    const { publisher } = publisherOn(bus);
    for (let i = 0; i < 3000; i++) {
      publisher.push(frame(`{"e":"${i % 7}","i":${i}}`, `${i % 7}`));
      if (i % 3 === 0) publisher.push({ ...frame(`{"i":${i}}`), kind: 'chance.frame' });
      if (i % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await publisher.drain(PATIENT_MS)).toBe(0);
    const books = await recordsOf(real, TOPICS.orderBook);
    expect(books.map((r) => r.sequence)).toEqual(Array.from({ length: 3000 }, (_, i) => i + 1));
    expect(books.map((r) => (r.body as { i: number }).i)).toEqual(Array.from({ length: 3000 }, (_, i) => i));
    expect((await recordsOf(real, TOPICS.chance)).map((r) => r.sequence)).toEqual(
      Array.from({ length: 1000 }, (_, i) => i + 1),
    );
    expect(publisher.acknowledged).toEqual({ [TOPICS.orderBook]: 3000, [TOPICS.chance]: 1000 });
    await real.close();
  });

  it('repeats a failed append unchanged, before anything else of that topic', async () => {
    const { bus, real, control } = await brittleBus();
    const { publisher, lines } = publisherOn(bus);
    control.failures = 3;
    await Promise.all([publisher.publish(frame('{"i":0}')), publisher.publish(frame('{"i":1}'))]);
    await publisher.publish(frame('{"i":2}'));
    const values = control.attempts.map((a) => a.records.map((r) => Buffer.from(r.value).toString()));
    expect(values).toHaveLength(5);
    expect(values.slice(1, 4)).toEqual([values[0], values[0], values[0]]);
    expect(values[4]).toHaveLength(1);
    expect((await recordsOf(real, TOPICS.orderBook)).map((r) => r.sequence)).toEqual([1, 2, 3]);
    expect(lines.map((l) => l.msg)).toEqual([
      'the disk is full; retrying until it works',
      'the bus accepts records again',
    ]);
    await publisher.drain(PATIENT_MS);
    await real.close();
  });

  it('gives a record that is appended twice the same number', async () => {
    const { bus, real, control } = await brittleBus();
    const { publisher } = publisherOn(bus);
    control.failures = 1;
    control.afterAppend = true;
    await publisher.publish(frame('{"i":0}'));
    expect((await recordsOf(real, TOPICS.orderBook)).map((r) => [r.sessionId, r.sequence])).toEqual([
      [publisher.sessionId, 1],
      [publisher.sessionId, 1],
    ]);
    await publisher.drain(PATIENT_MS);
    await real.close();
  });

  it('asks producers to pause when its queue is full, drops nothing, and resumes them', async () => {
    const { bus, real, control } = await brittleBus();
    const { publisher } = publisherOn(bus, 100_000);
    const { promise, resolve: open } = deferred();
    control.gate = promise;
    let sent = 0;
    while (publisher.push(frame(`{"i":${sent},"fill":"${'x'.repeat(500)}"}`))) {
      sent += 1;
      if (sent % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeGreaterThan(100);
    let resumed = false;
    void publisher.whenWritable().then(() => {
      resumed = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(resumed).toBe(false);
    open();
    await until(() => resumed);
    expect(await publisher.drain(PATIENT_MS)).toBe(0);
    const stored = await recordsOf(real, TOPICS.orderBook);
    expect(stored.map((r) => (r.body as { i: number }).i)).toEqual(Array.from({ length: sent + 1 }, (_, i) => i));
    await real.close();
  });

  it('never has a watermark or acknowledgement beyond what is durable', async () => {
    const { bus, real, control } = await brittleBus();
    const { publisher } = publisherOn(bus);
    const start = systemClock.nowMicros();
    expect(publisher.watermark).toBeGreaterThanOrEqual(start);
    const { promise, resolve: open } = deferred();
    control.gate = promise;
    const received = frame('{"i":0}');
    const published = publisher.publish(received);
    await until(() => control.attempts.length === 1);
    expect(publisher.watermark).toBeLessThan(received.receivedAt);
    expect(publisher.acknowledged).toEqual({});
    publisher.push(frame('{"i":1}'));
    expect(publisher.watermark).toBeLessThan(received.receivedAt);
    open();
    await published;
    await until(() => publisher.watermark > received.receivedAt);
    expect(publisher.acknowledged[TOPICS.orderBook]).toBeGreaterThanOrEqual(1);
    await publisher.drain(PATIENT_MS);
    await real.close();
  });

  it('stops after its timeout, and returns the number of lost records', async () => {
    const { bus, real, control } = await brittleBus();
    const { publisher, running } = publisherOn(bus);
    control.failures = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 5; i++) publisher.push(frame(`{"i":${i}}`));
    expect(await publisher.drain(50)).toBe(5);
    await expect(running).rejects.toThrow('the publisher is closed');
    await real.close();
  });

  it('splits a record that is too large for the bus into pieces that join to the exact text', async () => {
    const { bus, real } = await brittleBus({ maxRecordBytes: 4000 });
    const { publisher } = publisherOn(bus);
    const json = JSON.stringify({ e: 'x', d: Array.from({ length: 2000 }, (_, i) => `"\u0001é漢😀${i}`) });
    const text = `no json 😀${'"\\\n'.repeat(3000)}`;
    const bytes = Buffer.from(Array.from({ length: 9000 }, (_, i) => i % 256));
    publisher.push(frame(json));
    publisher.push(frame(text));
    publisher.push({ ...frame(''), ...encodeBody(bytes) });
    publisher.push(frame('{"small":true}'));
    await publisher.drain(PATIENT_MS);
    const records = await recordsOf(real, TOPICS.orderBook);
    const whole = (n: number) => {
      const pieces = records.filter((r) => r.sequence === n);
      expect(pieces.map((p) => p.piece)).toEqual(pieces.map((_, i) => ({ i, of: pieces.length })));
      expect(pieces.length).toBeGreaterThan(3);
      return { enc: pieces[0]?.encoding, body: pieces.map((p: RawRecord) => p.body as string).join('') };
    };
    expect(whole(1)).toEqual({ enc: undefined, body: json });
    expect(whole(2)).toEqual({ enc: 'text', body: text });
    expect(whole(3)).toEqual({ enc: 'base64', body: bytes.toString('base64') });
    expect(records.at(-1)).toMatchObject({ sequence: 4, body: { small: true } });
    await real.close();
  });
});
