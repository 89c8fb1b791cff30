import { expect, it } from 'vitest';
import { describeWithKafka } from '../kafka/index.js';
import { Recorder, readAll } from './rig.js';

const KEEP = { retentionMs: null, retentionBytes: null };

describeWithKafka('a Kafka whose broker is killed', { own: true }, (kafka) => {
  it('stores and delivers every acknowledged record once and in order while the broker is killed', async () => {
    const { prefix, ...bus } = kafka.open();
    const writers = [kafka.open({ prefix }), kafka.open({ prefix, compression: 'gzip' })];
    const reader = kafka.open({ prefix });
    await reader.ensureTopic('t', { partitions: 3, ...KEEP });
    const stop = new AbortController();
    const seen = new Recorder({ commit: true });
    const consuming = reader.consume({ topics: ['t'], group: 'g' }, seen, stop.signal);
    let writing = true;
    const acknowledged = [0, 0];
    const work = writers.map(async (writer, w) => {
      for (let n = 0; writing; n += 30) {
        const records = Array.from({ length: 30 }, (_, i) => ({
          key: `w${w}-${(n + i) % 5}`,
          value: Buffer.from(`w${w}-${(n + i) % 5}:${n + i}`),
        }));
        const positions = await writer.append('t', records);
        expect(positions).toHaveLength(30);
        acknowledged[w] = n + 30;
      }
    });
    const reached = (w: number, n: number) => expect.poll(() => acknowledged[w], { interval: 5 }).toBeGreaterThan(n);
    for (let round = 0; round < 2; round++) {
      const [a = 0, b = 0] = acknowledged;
      await Promise.all([reached(0, a + 300), reached(1, b + 300)]);
      await kafka.own.kill();
      await kafka.own.restart();
    }
    const [a = 0, b = 0] = acknowledged;
    await Promise.all([reached(0, a), reached(1, b)]);
    writing = false;
    await Promise.all(work);
    const total = (acknowledged[0] ?? 0) + (acknowledged[1] ?? 0);
    await seen.until(() => seen.values.length >= total);
    stop.abort();
    await consuming;
    const stored = (await readAll(reader, 't')).flat();
    for (const values of [stored, seen.values]) {
      expect(values).toHaveLength(total);
      for (const [w, end] of acknowledged.entries()) {
        for (let key = 0; key < 5; key++) {
          const own = values.filter((v) => v.startsWith(`w${w}-${key}:`)).map((v) => Number(v.split(':')[1]));
          expect(own).toEqual(Array.from({ length: end / 5 }, (_, i) => i * 5 + key));
        }
      }
    }
    void bus;
  });
});
