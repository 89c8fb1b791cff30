import kafkajs from 'kafkajs';
import { afterEach, expect, it } from 'vitest';
import {
  type Bus,
  type BusRecord,
  type ConsumeOptions,
  LogReplacedError,
  OffsetGoneError,
  type Partition,
  PartitionLostError,
  StalledError,
  UnreadableRecordsError,
} from '../../bus/index.js';
import { deferred } from '../../core/index.js';
import { appendForeignBatch, commitByHand } from '../kafka/foreign.js';
import { API, describeWithKafka } from '../kafka/index.js';
import { Recorder, readAll, texts } from './rig.js';

const KEEP = { retentionMs: null, retentionBytes: null };
const numbered = (key: string, from: number, to: number): BusRecord[] =>
  Array.from({ length: to - from }, (_, i) => ({ key, value: Buffer.from(`${key}:${from + i}`) }));
const valuesOf = (records: readonly BusRecord[]) => records.map((r) => Buffer.from(r.value).toString());

describeWithKafka('consuming from Kafka', { proxy: true }, (kafka) => {
  const running: { stop: AbortController; done: Promise<void> }[] = [];
  afterEach(async () => {
    kafka.proxy.thaw();
    kafka.proxy.faultFor = () => 'pass';
    for (const { stop } of running) stop.abort();
    await Promise.allSettled(running.splice(0).map(({ done }) => done));
  });

  /** Starts a consumer of `t` in group `g`. */
  function consume(bus: Bus, handler: Recorder, options: Partial<ConsumeOptions> = {}) {
    const stop = new AbortController();
    const done = bus.consume({ topics: ['t'], group: 'g', ...options }, handler, stop.signal);
    done.catch(() => undefined);
    running.push({ stop, done });
    const end = () => {
      stop.abort();
      return done;
    };
    return { done, end };
  }

  async function withTopic(partitions = 1) {
    const bus = kafka.open();
    await bus.ensureTopic('t', { partitions, ...KEEP });
    return bus;
  }

  it('commits while a later batch is being handled, and after the last one when no more arrive', async () => {
    const bus = await withTopic();
    await bus.append('t', numbered('k', 0, 10));
    const committed: unknown[] = [];
    let committing: Promise<void> | undefined;
    class Overlapping extends Recorder {
      override async onBatch(...args: Parameters<Recorder['onBatch']>) {
        const [partition, batch] = args;
        // Commits the previous batch while this one is handled.
        committing = partition.commit(batch.firstOffset, `intent ${batch.firstOffset}`);
        await committing;
        committed.push(await partition.committed());
        await super.onBatch(...args);
      }
    }
    const seen = new Overlapping();
    consume(bus, seen, { maxBatchBytes: 9 });
    await seen.until(() => seen.values.length === 10);
    expect(committed).toEqual(
      seen.batches.map(({ batch: { firstOffset: offset } }) => ({ offset, intent: `intent ${offset}` })),
    );
    expect(committed.length).toBeGreaterThan(2);
    const partition = seen.assigned.get(0);
    await Promise.all([partition?.commit(8, 'eight'), partition?.commit(9, 'nine'), partition?.commit(10)]);
    expect(await partition?.committed()).toEqual({ offset: 10 });
  });

  it('resolves a commit only when it is durable, even if responses are lost', async () => {
    const bus = await withTopic();
    await bus.append('t', numbered('k', 0, 3));
    const seen = new Recorder();
    consume(kafka.open({ prefix: bus.prefix, brokers: [kafka.proxy.address], requestTimeoutMs: 1000 }), seen);
    await seen.until(() => seen.values.length === 3);
    const faults = ['cut before', 'cut after', 'drop response', 'cut before'] as const;
    for (const [i, fault] of faults.entries()) {
      let armed = 1;
      kafka.proxy.faultFor = (key) => (key === API.offsetCommit && armed-- > 0 ? fault : 'pass');
      await seen.assigned.get(0)?.commit(i, fault);
      expect(await bus.committed('g')).toEqual([{ topic: 't', partition: 0, offset: i, intent: fault }]);
    }
  });

  it('refuses an intent that exceeds the limit of the broker, and reports its size', async () => {
    const bus = await withTopic();
    const seen = new Recorder();
    consume(bus, seen);
    await seen.until(() => seen.assigned.size === 1);
    await expect(seen.assigned.get(0)?.commit(0, 'x'.repeat(5000))).rejects.toThrow(/5041 bytes/);
    await seen.assigned.get(0)?.commit(0, 'x'.repeat(4000));
  });

  it('detects that its partitions were reassigned during a network partition, and its later commits are refused', async () => {
    const bus = await withTopic();
    await bus.append('t', numbered('k', 0, 5));
    const cutOff = new Recorder({ commit: true });
    const short = { brokers: [kafka.proxy.address], sessionTimeoutMs: 1500 };
    consume(kafka.open({ prefix: bus.prefix, ...short }), cutOff);
    await cutOff.until(() => cutOff.values.length === 5);
    const stale = cutOff.assigned.get(0) as Partition;
    kafka.proxy.freeze();
    const next = new Recorder({ commit: true });
    const other = consume(bus, next);
    await next.until(() => next.assigned.size === 1);
    await next.assigned.get(0)?.commit(3);
    const attempts = [stale.commit(1, 'stale'), stale.assertOwned()];
    attempts.map((attempt) => attempt.catch(() => undefined));
    kafka.proxy.thaw();
    for (const attempt of attempts) await expect(attempt).rejects.toThrow(PartitionLostError);
    expect(await next.assigned.get(0)?.committed()).toEqual({ offset: 3 });
    // It rejoins as a new member.
    await other.end();
    await cutOff.until(() => cutOff.assigned.size === 1 && cutOff.assigned.get(0) !== stale);
    await cutOff.until(() => cutOff.values.length === 7);
  });

  it('delivers every record once while consumers join and leave under load', async () => {
    const bus = await withTopic(6);
    const log: string[] = [];
    const consumers: { seen: Recorder; end: () => Promise<void> }[] = [];
    const join = () => {
      const seen = new Recorder({ commit: true, name: `c${consumers.length}`, log });
      consumers.push({ seen, end: consume(kafka.open({ prefix: bus.prefix }), seen).end });
    };
    let writing = true;
    let written = 0;
    const work = (async () => {
      for (; writing; written += 20) {
        const value = (i: number) => Buffer.from(String(written + i));
        await bus.append(
          't',
          Array.from({ length: 20 }, (_, i) => ({ key: `k${(written + i) % 40}`, value: value(i) })),
        );
      }
    })();
    join();
    for (let round = 0; round < 4; round++) {
      join();
      const newest = consumers.at(-1)?.seen;
      await newest?.until(() => newest.assigned.size > 0 && newest.values.length > 50);
      if (round % 2 === 1) await consumers[round - 1]?.end();
    }
    writing = false;
    await work;
    const all = () => consumers.flatMap(({ seen }) => seen.values);
    await expect.poll(() => all().length).toBe(written);
    expect(
      all()
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual(Array.from({ length: written }, (_, i) => i));
    // No partition was assigned to one member before the other had released it.
    const holder = new Map<string, string>();
    for (const [who, what, partition] of log.map((line) => line.split(' ') as [string, string, string])) {
      if (what === 'assigned') {
        expect(holder.get(partition)).toBeUndefined();
        holder.set(partition, who);
      } else if (what === 'revoked') holder.delete(partition);
    }
  });

  it('starts from the beginning of a topic that was deleted and created again, and reports the new log', async () => {
    const bus = await withTopic(3);
    const [{ partition: held = -1 } = {}] = await bus.append('t', numbered('old', 0, 5));
    const seen = new Recorder({ commit: true });
    consume(bus, seen);
    await seen.until(() => seen.values.length === 5 && seen.assigned.size === 3);
    const before = seen.assigned.get(held) as Partition;
    await before.commit(5, 'of the old log');
    await kafka.deleteTopic(`${bus.prefix}t`);
    await bus.ensureTopic('t', { partitions: 1, ...KEEP });
    // As many records as the consumer has already consumed from the former log.
    await bus.append('t', numbered('new', 0, 5));
    await seen.until(() => seen.values.length === 10);
    expect(seen.values.slice(5)).toEqual(valuesOf(numbered('new', 0, 5)));
    await seen.until(() => seen.events.filter((e) => e.startsWith('revoked')).length === 3);
    const after = seen.assigned.get(0) as Partition;
    expect(after.log).not.toBe(before.log);
    expect(await bus.partitions()).toMatchObject([{ partition: 0, log: after.log }]);
    const again = async () => {
      for await (const _ of before.read(0, 4));
    };
    await expect(again()).rejects.toThrow(LogReplacedError);
  });

  it('ignores an offset that was committed for a former log', async () => {
    const bus = await withTopic();
    await bus.append('t', numbered('old', 0, 5));
    const [{ log: former = '' } = {}] = await bus.partitions();
    const seen = new Recorder({ commit: true });
    await consumeAll(seen, 5);
    expect(await bus.committed('g')).toMatchObject([{ offset: 5 }]);
    await kafka.deleteTopic(`${bus.prefix}t`);
    await bus.ensureTopic('t', { partitions: 1, ...KEEP });
    // Kafka deletes the offsets of a deleted topic; a late commit may have written one again.
    const straggler = `log=${former};late`;
    await commitByHand(kafka.brokers, {
      group: `${bus.prefix}g`,
      topic: `${bus.prefix}t`,
      offset: 5,
      metadata: straggler,
    });
    expect(await bus.committed('g')).toEqual([]);
    await bus.append('t', numbered('new', 0, 5));
    const fresh = new Recorder({ commit: true });
    await consumeAll(fresh, 5);
    expect(fresh.values).toEqual(valuesOf(numbered('new', 0, 5)));

    async function consumeAll(recorder: Recorder, count: number) {
      const { end } = consume(bus, recorder);
      await recorder.until(() => recorder.values.length === count);
      await end();
    }
  });

  it('starts at the offset that an operator set', async () => {
    const bus = await withTopic();
    await bus.append('t', numbered('k', 0, 10));
    await commitByHand(kafka.brokers, { group: `${bus.prefix}g`, topic: `${bus.prefix}t`, offset: 7, metadata: '' });
    const seen = new Recorder();
    consume(bus, seen);
    await seen.until(() => seen.values.length === 3);
    expect(seen.values).toEqual(['k:7', 'k:8', 'k:9']);
  });

  it('consumes partitions that are added to a topic', async () => {
    const bus = await withTopic(1);
    const seen = new Recorder();
    consume(bus, seen);
    await seen.until(() => seen.assigned.size === 1);
    await (await kafka.admin()).createPartitions({ topicPartitions: [{ topic: `${bus.prefix}t`, count: 3 }] });
    await seen.until(() => seen.assigned.size === 3);
    expect(seen.events.filter((e) => e.startsWith('revoked'))).toEqual([]);
  });

  it('stops with the offset that retention deleted while the handler was busy', async () => {
    const bus = await withTopic();
    await bus.append('t', numbered('k', 0, 3));
    const { promise: gate, resolve: release } = deferred();
    class Busy extends Recorder {
      override async onBatch(...args: Parameters<Recorder['onBatch']>) {
        await super.onBatch(...args);
        await gate;
      }
    }
    const seen = new Busy();
    // Nothing is fetched ahead: the handler has the only record that fits.
    const { done } = consume(kafka.open({ prefix: bus.prefix }), seen, { maxBatchBytes: 1 });
    await seen.until(() => seen.values.length === 1);
    const admin = await kafka.admin();
    await admin.fetchTopicOffsets(`${bus.prefix}t`);
    await bus.append('t', numbered('k', 3, 20));
    await admin.deleteTopicRecords({ topic: `${bus.prefix}t`, partitions: [{ partition: 0, offset: '15' }] });
    release();
    const failure = await done.catch((error) => error);
    expect(failure).toBeInstanceOf(OffsetGoneError);
    expect(failure).toMatchObject({ begin: 15 });
    expect(seen.values).toEqual(valuesOf(numbered('k', 0, failure.offset)));
  });

  it('does not overwrite a batch while its handler is busy and other partitions continue', async () => {
    // One batch that fills a response large enough to be pooled.
    const count = 19;
    const bus = await withTopic(2);
    const large = (key: string, from: number, to: number) =>
      numbered(key, from, to).map((r) => ({ ...r, value: Buffer.concat([r.value, Buffer.alloc(5000, 'x')]) }));
    const [{ partition: busy = 0 } = {}] = await bus.append('t', large('a', 0, count));
    const other = await keyElsewhere(bus, busy);
    const { promise: gate, resolve: release } = deferred();
    let handed = false;
    let unchanged = true;
    class Busy extends Recorder {
      override async onBatch(...args: Parameters<Recorder['onBatch']>) {
        const before = texts(args[1]);
        if (args[0].partition === busy) {
          handed = true;
          await gate;
        }
        unchanged &&= texts(args[1]).every((text, i) => text === before[i]);
        await super.onBatch(...args);
      }
    }
    const seen = new Busy();
    consume(bus, seen, { maxBatchBytes: 100_000 });
    await expect.poll(() => handed).toBe(true);
    const ofOther = () => seen.values.filter((value) => value.startsWith(`${other}:`)).length;
    for (let from = 0; from < 20 * count; from += count) {
      await bus.append('t', large(other, from, from + count));
      await seen.until(() => ofOther() === from + count);
    }
    release();
    // Recognised by its batch, not by its values, which would be missing if its memory were reused.
    await seen.until(() => seen.batches.some(({ partition }) => partition === busy));
    expect(unchanged).toBe(true);
    expect(seen.values.filter((v) => v.startsWith('a:'))).toEqual(valuesOf(large('a', 0, count)));
    expect(seen.values.filter((v) => v.startsWith(`${other}:`))).toEqual(valuesOf(large(other, 0, 20 * count)));
  });

  it('reuses the memory of a response when its batch was handled', async () => {
    const answers = 20;
    const bus = await withTopic();
    const memories = new Set<ArrayBufferLike>();
    class Noting extends Recorder {
      override async onBatch(...args: Parameters<Recorder['onBatch']>) {
        memories.add(args[1].bytes.buffer);
        await super.onBatch(...args);
      }
    }
    const seen = new Noting();
    consume(bus, seen);
    for (let n = 0; n < answers; n++) {
      // Large enough to be pooled, and one response each.
      await bus.append('t', [{ key: 'k', value: Buffer.alloc(96 * 1024, 'x') }]);
      await seen.until(() => seen.batches.length === n + 1);
    }
    expect(memories.size).toBeLessThanOrEqual(6);
  });

  /** A key of another partition. */
  async function keyElsewhere(bus: Bus, partition: number): Promise<string> {
    for (let i = 0; ; i++) {
      const [position] = await bus.append('t', [{ key: `o${i}`, value: Buffer.from('probe') }]);
      if (position?.partition !== partition) return `o${i}`;
    }
  }

  it('refuses records in an unsupported compression, after delivering those before them, and says how to continue', async () => {
    const bus = kafka.open();
    await kafka.createForeignTopic(`${bus.prefix}t`, 1);
    await bus.ensureTopic('t', { partitions: 1, ...KEEP });
    await bus.append('t', numbered('k', 0, 3));
    await appendForeignBatch(kafka.brokers, `${bus.prefix}t`, numbered('foreign', 0, 4), 'zstd');
    await bus.append('t', numbered('k', 7, 9));
    const seen = new Recorder();
    const failure = await consume(bus, seen).done.catch((error) => error);
    expect(failure).toBeInstanceOf(UnreadableRecordsError);
    expect(failure).toMatchObject({ offset: 3, next: 7, retryable: false });
    expect(failure.message).toMatch(/compressed with zstd.*gzip/);
    expect(seen.values).toEqual(valuesOf(numbered('k', 0, 3)));
    const rest: string[] = [];
    for await (const batch of bus.read('t', 0, failure.next, 8)) rest.push(...texts(batch));
    expect(rest).toEqual(['k:7', 'k:8']);
  });

  it('reads records that another producer compressed otherwise, since the broker recompresses them in topics that Chancery created', async () => {
    const bus = await withTopic();
    await appendForeignBatch(kafka.brokers, `${bus.prefix}t`, numbered('foreign', 0, 4), 'zstd');
    expect(await readAll(bus, 't')).toEqual([valuesOf(numbered('foreign', 0, 4))]);
  });

  it('reads a null value as an empty one', async () => {
    const bus = await withTopic();
    const { Kafka, logLevel, Partitioners } = kafkajs;
    const client = new Kafka({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING });
    const producer = client.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const messages = [{ value: 'a' }, { key: 'k', value: null }, { value: 'c', headers: { h: 'x' } }];
    await producer.send({ topic: `${bus.prefix}t`, messages });
    await producer.disconnect();
    expect(await readAll(bus, 't')).toEqual([['a', '', 'c']]);
  });

  it('stops when records are available and none is received', async () => {
    const bus = await withTopic();
    const seen = new Recorder();
    const slow = kafka.open({
      prefix: bus.prefix,
      brokers: [kafka.proxy.address],
      stallMs: 600,
      requestTimeoutMs: 5000,
    });
    const { done } = consume(slow, seen);
    let lost = 0;
    kafka.proxy.faultFor = (key) => {
      if (key !== API.fetch) return 'pass';
      lost++;
      return 'drop response';
    };
    await expect.poll(() => lost).toBeGreaterThan(0);
    await bus.append('t', numbered('k', 0, 7));
    const failure = await done.catch((error) => error);
    expect(failure).toBeInstanceOf(StalledError);
    expect(failure.message).toMatch(/7 are available/);
    expect(seen.events).toEqual(['assigned 0', 'revoked 0']);
  });

  it('is refused by a group whose consumers use another assignment protocol', async () => {
    const bus = await withTopic();
    const { Kafka, logLevel } = kafkajs;
    const client = new Kafka({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING });
    const foreign = client.consumer({ groupId: `${bus.prefix}g`, sessionTimeout: 6000, maxWaitTimeInMs: 100 });
    await foreign.connect();
    await foreign.subscribe({ topics: [`${bus.prefix}t`] });
    const joined = new Promise((resolve) => foreign.on('consumer.group_join', resolve));
    await foreign.run({ eachMessage: async () => undefined });
    await joined;
    await expect(consume(bus, new Recorder()).done).rejects.toThrow(/another assignment protocol.*--group/);
    await foreign.disconnect();
  });

  it('stops while it requests the log of a partition that was just assigned', async () => {
    const bus = await withTopic();
    await bus.append('t', numbered('k', 0, 3));
    const seen = new Recorder();
    const through = kafka.open({ prefix: bus.prefix, brokers: [kafka.proxy.address] });
    let given = false;
    let stopped = false;
    const { done, end } = consume(through, seen);
    kafka.proxy.faultFor = (key) => {
      given ||= key === API.syncGroup;
      if (given && key === API.metadata && !stopped) {
        stopped = true;
        void end();
      }
      return 'pass';
    };
    await done;
    expect(stopped).toBe(true);
    expect(seen.events).toEqual([]);
  });
});
