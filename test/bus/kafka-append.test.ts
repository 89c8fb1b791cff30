import { afterEach, expect, it } from 'vitest';
import { type Bus, type BusRecord, BusWriteError, type KafkaBusOptions } from '../../bus/index.js';
import { API, describeWithKafka, type ProxyFault } from '../kafka/index.js';
import { readAll } from './rig.js';

const KEEP = { retentionMs: null, retentionBytes: null };
const numbered = (key: string, from: number, to: number): BusRecord[] =>
  Array.from({ length: to - from }, (_, i) => ({ key, value: Buffer.from(`${key}:${from + i}`) }));
const texts = (records: readonly BusRecord[]) => records.map((r) => Buffer.from(r.value).toString());

describeWithKafka('appending to Kafka', { proxy: true }, (kafka) => {
  afterEach(() => {
    kafka.proxy.thaw();
    kafka.proxy.faultFor = () => 'pass';
  });

  /** A bus that reaches the broker through the proxy, with topic `t`. */
  async function proxied(options: Partial<KafkaBusOptions> = {}): Promise<Bus> {
    const bus = kafka.open({ brokers: [kafka.proxy.address], ...options });
    await bus.ensureTopic('t', { partitions: 1, ...KEEP });
    return bus;
  }

  /** The proxy applies these faults to the next produce requests and forwards the others. */
  function injectProduceFaults(...faults: ProxyFault[]): void {
    kafka.proxy.faultFor = (key) => (key === API.produce ? (faults.shift() ?? 'pass') : 'pass');
  }

  it('stores a batch once, in order, however often its acknowledgement is lost', async () => {
    const bus = await proxied({ requestTimeoutMs: 1000 });
    await bus.append('t', numbered('k', 0, 10));
    injectProduceFaults('cut after', 'cut before', 'cut after', 'drop response', 'cut after');
    const positions = await bus.append('t', numbered('k', 10, 30));
    expect(positions.map((p) => p.offset)).toEqual(Array.from({ length: 20 }, (_, i) => 10 + i));
    await bus.append('t', numbered('k', 30, 40));
    expect((await readAll(bus, 't'))[0]).toEqual(texts(numbered('k', 0, 40)));
  });

  it('recognises rejected records that are appended again, also together with new ones', async () => {
    const bus = await proxied({ apiTimeoutMs: 2000 });
    await bus.append('t', numbered('k', 0, 5));
    kafka.proxy.faultFor = (key) => (key === API.produce ? 'cut after' : 'pass');
    const first = bus.append('t', numbered('k', 5, 10));
    const behind = bus.append('t', numbered('k', 10, 15));
    await expect(first).rejects.toThrow(BusWriteError);
    await expect(behind).rejects.toThrow(/were not sent/);
    kafka.proxy.faultFor = () => 'pass';
    const positions = await bus.append('t', numbered('k', 5, 15));
    expect(positions.map((p) => p.offset)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    expect((await readAll(bus, 't'))[0]).toEqual(texts(numbered('k', 0, 15)));
  });

  it('stores every acknowledged record after the caller dropped unacknowledged ones', async () => {
    const bus = await proxied({ apiTimeoutMs: 2000 });
    await bus.append('t', numbered('k', 0, 5));
    kafka.proxy.faultFor = (key) => (key === API.produce ? 'cut after' : 'pass');
    await expect(bus.append('t', numbered('given up', 0, 5))).rejects.toThrow(BusWriteError);
    kafka.proxy.faultFor = () => 'pass';
    // As many records as were dropped: with the same sequence the broker would treat them as duplicates of those.
    const positions = await bus.append('t', numbered('k', 5, 10));
    const [stored = []] = await readAll(bus, 't');
    expect(positions.map((p) => stored[p.offset])).toEqual(texts(numbered('k', 5, 10)));
    expect(stored.filter((v) => v.startsWith('k:'))).toEqual(texts(numbered('k', 0, 10)));
  });

  it('rejects immediately when the caller aborts, and completes the append when the records are appended again', async () => {
    const bus = await proxied({ requestTimeoutMs: 60_000, apiTimeoutMs: 60_000 });
    await bus.append('t', numbered('k', 0, 1));
    kafka.proxy.freeze();
    const stop = new AbortController();
    const append = bus.append('t', numbered('k', 1, 4), stop.signal);
    const started = performance.now();
    stop.abort(new Error('enough'));
    await expect(append).rejects.toThrow('enough');
    expect(performance.now() - started).toBeLessThan(30_000);
    kafka.proxy.thaw();
    await bus.append('t', numbered('k', 1, 4));
    expect((await readAll(bus, 't'))[0]).toEqual(texts(numbered('k', 0, 4)));
  });

  it('continues after the topic was deleted and created again', async () => {
    const bus = kafka.open();
    await bus.ensureTopic('t', { partitions: 3, ...KEEP });
    await bus.append('t', [...numbered('a', 0, 10), ...numbered('b', 0, 10), ...numbered('c', 0, 10)]);
    await kafka.deleteTopic(`${bus.prefix}t`);
    await bus.ensureTopic('t', { partitions: 1, ...KEEP });
    const positions = await bus.append('t', [
      ...numbered('a', 10, 12),
      ...numbered('b', 10, 12),
      ...numbered('c', 10, 12),
    ]);
    expect(positions.map((p) => `${p.partition}/${p.offset}`)).toEqual(['0/0', '0/1', '0/2', '0/3', '0/4', '0/5']);
  });
});
