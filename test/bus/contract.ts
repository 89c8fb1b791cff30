import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Bus,
  OffsetBeyondEndError,
  OffsetGoneError,
  PartitionLostError,
  RecordTooLargeError,
  UnknownTopicError,
} from '../../bus/index.js';
import { deferred } from '../../core/index.js';
import { type BusRig, Recorder, readAll, runChild, sizeOf, texts } from './rig.js';

const KEEP = { retentionMs: null, retentionBytes: null };
const record = (key: string, text: string) => ({ key, value: Buffer.from(text) });
const numbered = (key: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => record(key, `${key}:${from + i}`));

/** The contract of a bus; each implementation runs this suite with its own rig. */
export function busContract(name: string, makeRig: () => Promise<BusRig>): void {
  describe(name, () => {
    let rig: BusRig;
    let bus: Bus;
    const stops: AbortController[] = [];
    const consuming: Promise<void>[] = [];

    beforeEach(async () => {
      rig = await makeRig();
      bus = await rig.open();
    });
    afterEach(async () => {
      for (const stop of stops.splice(0)) stop.abort();
      await Promise.allSettled(consuming.splice(0));
      await rig.close();
    });

    /** Starts a consumer of `t` in group `g`. */
    function consume(on: Bus, handler: Recorder, options: { group?: string; maxBatchBytes?: number } = {}) {
      const stop = new AbortController();
      const running = on.consume({ topics: ['t'], group: 'g', ...options }, handler, stop.signal);
      stops.push(stop);
      consuming.push(running);
      running.catch(() => undefined);
      const end = () => {
        stop.abort();
        return running;
      };
      return { running, end };
    }

    describe('append', () => {
      it('returns the position of each record, in order, and keeps the records of a key in order on one partition', async () => {
        await bus.ensureTopic('t', { partitions: 3, ...KEEP });
        const records = Array.from({ length: 300 }, (_, i) => record(`k${i % 20}`, `k${i % 20}:${i}`));
        const positions = await bus.append('t', records);
        const stored = await readAll(bus, 't');
        expect(positions.map((p) => stored[p.partition]?.[p.offset])).toEqual(records.map((r) => r.value.toString()));
        const partitionsOfKey = new Map<string, Set<number>>();
        positions.forEach((p, i) => {
          const key = records[i]?.key ?? '';
          partitionsOfKey.set(key, (partitionsOfKey.get(key) ?? new Set()).add(p.partition));
        });
        expect([...partitionsOfKey.values()].every((set) => set.size === 1)).toBe(true);
        expect(stored.every((values) => values.length > 0)).toBe(true);
      });

      it('keeps the order of a caller that appends again before the first append is acknowledged', async () => {
        await bus.ensureTopic('t', { partitions: 1, ...KEEP });
        await Promise.all(Array.from({ length: 50 }, (_, i) => bus.append('t', numbered('a', i * 10, i * 10 + 10))));
        expect((await readAll(bus, 't'))[0]).toEqual(numbered('a', 0, 500).map((r) => r.value.toString()));
      });

      it('is visible to another handle as soon as it is acknowledged', async () => {
        const other = await rig.open();
        await bus.ensureTopic('t', { partitions: 2, ...KEEP });
        for (let i = 0; i < 20; i++) {
          const [appended] = await bus.append('t', [record('k', `v${i}`)]);
          expect((await readAll(other, 't'))[appended?.partition ?? -1]?.at(-1)).toBe(`v${i}`);
        }
      });

      it('interleaves appends of several handles without loss or duplicates', async () => {
        const other = await rig.open();
        await bus.ensureTopic('t', { partitions: 2, ...KEEP });
        const work = [bus, other].map(async (handle, h) => {
          for (let i = 0; i < 100; i++)
            await handle.append('t', [record(`h${h}`, `h${h}:${i}`), record('x', `x${h}:${i}`)]);
        });
        await Promise.all(work);
        const values = (await readAll(bus, 't')).flat();
        expect(values).toHaveLength(400);
        for (const prefix of ['h0', 'h1', 'x0', 'x1']) {
          const own = values.filter((v) => v.startsWith(`${prefix}:`));
          expect(own).toEqual(Array.from({ length: 100 }, (_, i) => `${prefix}:${i}`));
        }
      });

      it('refuses an unknown topic', async () => {
        await expect(bus.append('nowhere', [record('k', 'v')])).rejects.toThrow(UnknownTopicError);
        await expect(bus.append('nowhere', [record('k', 'v')])).rejects.toThrow(/nowhere/);
      });

      it('refuses a record that is too large and stores nothing of that append', async () => {
        const small = await rig.open({ maxRecordBytes: 1000 });
        await small.ensureTopic('t', { partitions: 1, ...KEEP });
        const append = small.append('t', [record('k', 'ok'), record('k', 'x'.repeat(1001))]);
        await expect(append).rejects.toThrow(RecordTooLargeError);
        await small.append('t', [record('k', 'x'.repeat(1000))]);
        expect((await readAll(small, 't'))[0]).toEqual(['x'.repeat(1000)]);
      });

      it('accepts empty values and an empty append', async () => {
        await bus.ensureTopic('t', { partitions: 1, ...KEEP });
        expect(await bus.append('t', [])).toEqual([]);
        await bus.append('t', [record('k', ''), record('k', 'b'), record('k', '')]);
        expect(await readAll(bus, 't')).toEqual([['', 'b', '']]);
      });

      it('rejects with the reason of an aborted signal', async () => {
        await bus.ensureTopic('t', { partitions: 1, ...KEEP });
        const append = bus.append('t', [record('k', 'v')], AbortSignal.abort(new Error('enough')));
        await expect(append).rejects.toThrow('enough');
        expect(await readAll(bus, 't')).toEqual([[]]);
      });
    });

    describe('topics', () => {
      it('keep their partitions, records and identity when `ensureTopic` is called again', async () => {
        await bus.ensureTopic('t', { partitions: 2, ...KEEP });
        await bus.append('t', [record('k', 'v')]);
        const before = await bus.partitions();
        await bus.ensureTopic('t', { partitions: 5, ...KEEP });
        expect(await bus.partitions()).toEqual(before);
        expect(before.map((p) => p.partition)).toEqual([0, 1]);
      });

      it('have distinct identities, the same from every handle', async () => {
        await bus.ensureTopic('t', { partitions: 1, ...KEEP });
        await bus.ensureTopic('u', { partitions: 1, ...KEEP });
        const logs = (await bus.partitions()).map((p) => p.log);
        expect(new Set(logs).size).toBe(2);
        const other = await rig.open();
        expect((await other.partitions()).map((p) => p.log)).toEqual(logs);
      });
    });

    describe('read', () => {
      it('returns exactly the requested range', async () => {
        await bus.ensureTopic('t', { partitions: 1, ...KEEP });
        for (let i = 0; i < 100; i += 10) await bus.append('t', numbered('k', i, i + 10));
        for (const [start, end] of [
          [0, 0],
          [0, 99],
          [5, 5],
          [9, 10],
          [37, 82],
          [99, 99],
        ] as const) {
          const values: string[] = [];
          let next = start as number;
          for await (const batch of bus.read('t', 0, start, end)) {
            expect(batch.firstOffset).toBe(next);
            expect(batch.bounds).toHaveLength(2 * batch.count);
            next += batch.count;
            values.push(...texts(batch));
          }
          expect(values).toEqual(numbered('k', start, end + 1).map((r) => r.value.toString()));
        }
      });

      it('refuses offsets beyond the end, and an unknown topic', async () => {
        await bus.ensureTopic('t', { partitions: 1, ...KEEP });
        await bus.append('t', numbered('k', 0, 3));
        const drain = async (topic: string, end: number) => {
          for await (const _ of bus.read(topic, 0, 0, end));
        };
        await expect(drain('t', 3)).rejects.toThrow(OffsetBeyondEndError);
        await expect(drain('nowhere', 0)).rejects.toThrow(UnknownTopicError);
      });
    });

    describe('consume', () => {
      it('delivers every record once, in order, in consecutive batches', async () => {
        await bus.ensureTopic('t', { partitions: 2, ...KEEP });
        await bus.append('t', [...numbered('a', 0, 50), ...numbered('b', 0, 50)]);
        const seen = new Recorder();
        const consumer = consume(bus, seen);
        await seen.until(() => seen.values.length >= 100);
        await bus.append('t', [...numbered('a', 50, 90), ...numbered('b', 50, 90)]);
        await seen.until(() => seen.values.length >= 180);
        await consumer.end();
        for (const key of ['a', 'b']) {
          const own = seen.values.filter((v) => v.startsWith(`${key}:`));
          expect(own).toEqual(numbered(key, 0, 90).map((r) => r.value.toString()));
        }
        for (const partition of [0, 1]) {
          let next = 0;
          for (const { batch } of seen.batches.filter((b) => b.partition === partition)) {
            expect(batch.firstOffset).toBe(next);
            next += batch.count;
          }
        }
      });

      it('delivers a new record promptly', async () => {
        await bus.ensureTopic('t', { partitions: 1, ...KEEP });
        const other = await rig.open();
        const seen = new Recorder();
        consume(other, seen);
        await seen.until(() => seen.assigned.size === 1);
        await bus.append('t', [record('k', 'first')]);
        await seen.until(() => seen.values.length === 1);
        const times: number[] = [];
        for (let i = 0; i < 20; i++) {
          await bus.append('t', [record('k', `v${i}`)]);
          const appended = performance.now();
          await seen.until(() => seen.values.length === i + 2);
          times.push(performance.now() - appended);
        }
        // Each record is appended when the one before was delivered: polling would delay every one by its interval, a busy
        // machine delays some.
        expect(Math.min(...times)).toBeLessThan(100);
      });

      it('keeps batches within the requested size, except for a single larger record', async () => {
        await bus.ensureTopic('t', { partitions: 1, ...KEEP });
        const sizes = [10, 400, 700, 1500, 20, 30, 950, 60, 5000, 1];
        for (const size of sizes) await bus.append('t', [record('k', 'x'.repeat(size))]);
        await bus.append(
          't',
          sizes.map((size) => record('k', 'x'.repeat(size))),
        );
        const seen = new Recorder();
        const consumer = consume(bus, seen, { maxBatchBytes: 1000 });
        await seen.until(() => seen.values.length >= 20);
        await consumer.end();
        expect(seen.values.map((v) => v.length)).toEqual([...sizes, ...sizes]);
        for (const { batch } of seen.batches) {
          expect(batch.count === 1 || sizeOf(batch) <= 1000).toBe(true);
        }
      });

      it('resumes from the committed offset and returns the intent', async () => {
        await bus.ensureTopic('t', { partitions: 1, ...KEEP });
        await bus.append('t', numbered('k', 0, 10));
        const first = new Recorder();
        const consumer = consume(bus, first);
        await first.until(() => first.values.length >= 10);
        const partition = first.assigned.get(0);
        expect(await partition?.committed()).toEqual({ offset: 0 });
        await partition?.commit(4, 'intent: 4 to 7 ✓');
        expect(await partition?.committed()).toEqual({ offset: 4, intent: 'intent: 4 to 7 ✓' });
        const other = await rig.open();
        expect(await other.committed('g')).toEqual([
          { topic: 't', partition: 0, offset: 4, intent: 'intent: 4 to 7 ✓' },
        ]);
        await consumer.end();

        const second = new Recorder();
        const next = consume(other, second);
        await second.until(() => second.values.length >= 6);
        expect(second.values[0]).toBe('k:4');
        expect(await second.assigned.get(0)?.committed()).toEqual({ offset: 4, intent: 'intent: 4 to 7 ✓' });
        await second.assigned.get(0)?.commit(8, 'intent: 8 to 9', '{"c":1}');
        expect(await other.committed('g')).toEqual([
          { topic: 't', partition: 0, offset: 8, intent: 'intent: 8 to 9', checkpoint: '{"c":1}' },
        ]);
        await second.assigned.get(0)?.commit(9, undefined, '{"c":2}');
        expect(await second.assigned.get(0)?.committed()).toEqual({ offset: 9, checkpoint: '{"c":2}' });
        await second.assigned.get(0)?.commit(10);
        expect(await second.assigned.get(0)?.committed()).toEqual({ offset: 10 });
        await next.end();
        expect(await bus.committed('another group')).toEqual([]);
      });

      it('reads a range again while it owns the partition', async () => {
        await bus.ensureTopic('t', { partitions: 1, ...KEEP });
        await bus.append('t', numbered('k', 0, 30));
        const seen = new Recorder();
        consume(bus, seen);
        await seen.until(() => seen.values.length >= 30);
        const again: string[] = [];
        for await (const batch of seen.assigned.get(0)?.read(7, 21) ?? []) again.push(...texts(batch));
        expect(again).toEqual(numbered('k', 7, 22).map((r) => r.value.toString()));
      });

      it('reports the lag of the partition after each batch', async () => {
        await bus.ensureTopic('t', { partitions: 2, ...KEEP });
        const positions = await bus.append('t', [
          ...numbered('a', 0, 30),
          ...numbered('b', 0, 20),
          ...numbered('c', 0, 9),
        ]);
        const ends = [0, 1].map((partition) => positions.filter((p) => p.partition === partition).length);
        const seen = new Recorder();
        consume(bus, seen, { maxBatchBytes: 40 });
        await seen.until(() => seen.values.length === 59);
        expect(seen.batches.length).toBeGreaterThan(4);
        for (const { partition, batch, behind } of seen.batches) {
          expect(behind).toBe((ends[partition] ?? 0) - batch.firstOffset - batch.count);
        }
      });

      it('continues with other partitions while the handler of one is busy', async () => {
        await bus.ensureTopic('t', { partitions: 2, ...KEEP });
        const positions = await bus.append('t', [
          ...numbered('a', 0, 1),
          ...numbered('b', 0, 1),
          ...numbered('c', 0, 1),
        ]);
        const blocked = positions[0]?.partition ?? 0;
        const otherKey = ['b', 'c', 'd', 'e'].find(
          (_, i) => (positions[i + 1]?.partition ?? blocked) !== blocked,
        ) as string;
        const { promise: gate, resolve: release } = deferred();
        let inside = 0;
        let overlap = 0;
        class Gated extends Recorder {
          override async onBatch(...args: Parameters<Recorder['onBatch']>) {
            if (args[0].partition === blocked) {
              overlap = Math.max(overlap, ++inside);
              await gate;
              inside--;
            }
            await super.onBatch(...args);
          }
        }
        const seen = new Gated();
        const consumer = consume(bus, seen);
        await seen.until(() => seen.assigned.size === 2);
        for (let i = 1; i < 6; i++)
          await bus.append('t', [...numbered('a', i, i + 1), ...numbered(otherKey, i, i + 1)]);
        await seen.until(() => seen.values.includes(`${otherKey}:5`));
        expect(seen.values.some((v) => v.startsWith('a:'))).toBe(false);
        release();
        await seen.until(() => seen.values.includes('a:5'));
        await consumer.end();
        expect(overlap).toBe(1);
      });

      it('rejects with the error of the handler, after onRevoked', async () => {
        await bus.ensureTopic('t', { partitions: 2, ...KEEP });
        await bus.append('t', [record('k', 'poison')]);
        class Failing extends Recorder {
          override async onBatch(): Promise<void> {
            throw new Error('cannot stomach this');
          }
        }
        const seen = new Failing();
        const consumer = consume(bus, seen);
        await expect(consumer.running).rejects.toThrow('cannot stomach this');
        expect(seen.events.filter((e) => e.startsWith('revoked')).sort()).toEqual(
          seen.events
            .filter((e) => e.startsWith('assigned'))
            .map((e) => e.replace('assigned', 'revoked'))
            .sort(),
        );
        const healthy = new Recorder();
        consume(bus, healthy);
        await healthy.until(() => healthy.values.includes('poison'));
      });

      it('rejects for an unknown topic', async () => {
        const consumer = bus.consume({ topics: ['nowhere'], group: 'g' }, new Recorder(), new AbortController().signal);
        await expect(consumer).rejects.toThrow(UnknownTopicError);
      });

      it('delivers every record to each group', async () => {
        await bus.ensureTopic('t', { partitions: 1, ...KEEP });
        await bus.append('t', numbered('k', 0, 5));
        const [one, two] = [new Recorder({ commit: true }), new Recorder({ commit: true })];
        consume(bus, one, { group: 'one' });
        consume(bus, two, { group: 'two' });
        await Promise.all([one, two].map((r) => r.until(() => r.values.length >= 5)));
        expect(one.values).toEqual(two.values);
      });
    });

    describe('a group', () => {
      it('divides its partitions evenly, and releases each before another member gets it', async () => {
        await bus.ensureTopic('t', { partitions: 4, ...KEEP });
        const log: string[] = [];
        const one = new Recorder({ commit: true, name: 'one', log });
        const two = new Recorder({ commit: true, name: 'two', log });
        const first = consume(bus, one);
        await one.until(() => one.assigned.size === 4);
        const second = consume(await rig.open(), two);
        await two.until(() => two.assigned.size === 2 && one.assigned.size === 2);
        for (const partition of two.assigned.keys()) {
          const revoked = log.indexOf(`one revoked ${partition}`);
          expect(revoked).toBeGreaterThan(-1);
          expect(log.indexOf(`two assigned ${partition}`)).toBeGreaterThan(revoked);
        }
        await bus.append(
          't',
          Array.from({ length: 100 }, (_, i) => record(`k${i}`, `v${i}`)),
        );
        // The consumer of the last record sees a lag of 0.
        await Promise.race([one, two].map((r) => r.until(() => one.values.length + two.values.length >= 100)));
        await first.end();
        await two.until(() => two.assigned.size === 4);
        await bus.append(
          't',
          Array.from({ length: 100 }, (_, i) => record(`k${i}`, `w${i}`)),
        );
        await two.until(() => one.values.length + two.values.length >= 200);
        await second.end();
        const all = [...one.values, ...two.values].sort();
        expect(all).toEqual(
          Array.from({ length: 100 }, (_, i) => [`v${i}`, `w${i}`])
            .flat()
            .sort(),
        );
      });

      it('fences the former owner of a partition', async () => {
        await bus.ensureTopic('t', { partitions: 1, ...KEEP });
        await bus.append('t', numbered('k', 0, 3));
        const old = new Recorder();
        const first = consume(bus, old);
        await old.until(() => old.values.length >= 3);
        const stale = old.assigned.get(0);
        await stale?.assertOwned();
        await stale?.commit(1);
        await first.end();
        const fresh = new Recorder();
        consume(await rig.open(), fresh);
        await fresh.until(() => fresh.values.length >= 2);
        await expect(stale?.commit(3)).rejects.toThrow(PartitionLostError);
        await expect(stale?.assertOwned()).rejects.toThrow(PartitionLostError);
        expect(await fresh.assigned.get(0)?.committed()).toEqual({ offset: 1 });
      });
    });

    describe('retention', () => {
      it('advances the first available offset; reading an earlier one is refused', async () => {
        await bus.ensureTopic('t', { partitions: 1, ...KEEP });
        await bus.append('t', numbered('k', 0, 10));
        const behind = new Recorder();
        const consumer = consume(bus, behind);
        await behind.until(() => behind.values.length >= 10);
        await behind.assigned.get(0)?.commit(3);
        await consumer.end();
        await rig.expire('t');
        await bus.append('t', numbered('k', 10, 15));
        const [extent] = await bus.partitions();
        expect(extent).toMatchObject({ begin: 10, end: 15 });
        const drain = async () => {
          for await (const _ of bus.read('t', 0, 9, 12));
        };
        await expect(drain()).rejects.toThrow(OffsetGoneError);
        await expect(consume(bus, new Recorder()).running).rejects.toThrow(
          /offset 3 of t\/0 was deleted by retention.*10;/,
        );
        const fresh = new Recorder();
        consume(bus, fresh, { group: 'new' });
        await fresh.until(() => fresh.values.length >= 5);
        expect(fresh.values[0]).toBe('k:10');
      });
    });

    describe('processes', () => {
      it('see each other’s records immediately', async () => {
        await bus.ensureTopic('t', { partitions: 2, ...KEEP });
        const seen = new Recorder();
        consume(bus, seen);
        const child = runChild('append-loop.mjs', rig.childArgument, 't', 'w');
        await seen.until(() => seen.values.length >= 2000);
        await child.kill();
        const numbers = seen.values.map((v) => (JSON.parse(v) as { n: number }).n);
        for (const key of [0, 1, 2]) {
          const own = numbers.filter((n) => n % 3 === key);
          expect(own).toEqual(own.map((_, i) => key + 3 * i));
        }
      });

      it('that are killed while they append leave every acknowledged record complete', async () => {
        await bus.ensureTopic('t', { partitions: 2, ...KEEP });
        let seed = 7;
        const random = () => {
          seed = (seed * 48271) % 2147483647;
          return seed / 2147483647;
        };
        for (let round = 0; round < 6; round++) {
          const children = [0, 1].map((c) => runChild('append-loop.mjs', rig.childArgument, 't', `w${round}-${c}`));
          const enough = 5 + Math.floor(random() * 60);
          await Promise.all(children.map((child) => child.line(() => child.lines.length >= enough)));
          await Promise.all(children.map((child) => child.kill()));
          const stored = (await readAll(bus, 't')).flat().map((v) => JSON.parse(v) as { writer: string; n: number });
          for (const [c, child] of children.entries()) {
            const acknowledged = Number(child.lines.at(-1)?.split(' ')[1]);
            const own = stored.filter((r) => r.writer === `w${round}-${c}`).map((r) => r.n);
            expect(new Set(own).size).toBe(own.length);
            expect(own.filter((n) => n < acknowledged)).toHaveLength(acknowledged);
            for (const key of [0, 1, 2]) {
              const ofKey = own.filter((n) => n % 3 === key);
              expect(ofKey).toEqual(ofKey.map((_, i) => key + 3 * i));
            }
          }
          const [appended] = await bus.append('t', [record('k', '{"writer":"me","n":0}')]);
          expect(appended).toBeDefined();
        }
      });

      it('that are killed while they consume lose their partitions to the others', async () => {
        await bus.ensureTopic('t', { partitions: 2, ...KEEP });
        await bus.append('t', [...numbered('a', 0, 10), ...numbered('b', 0, 10), ...numbered('c', 0, 10)]);
        const child = runChild('consume.mjs', rig.childArgument, 't', 'g');
        await child.line(() => child.lines.filter((l) => l.startsWith('assigned')).length === 2);
        const seen = new Recorder({ commit: true });
        consume(bus, seen);
        await seen.until(() => seen.assigned.size === 1);
        await child.kill();
        const killed = performance.now();
        await seen.until(() => seen.assigned.size === 2);
        expect(performance.now() - killed).toBeLessThan(rig.takeoverMs);
      });
    });
  });
}
