import { afterEach, expect, it } from 'vitest';
import { StalledError, UnreadableRecordsError } from '../../bus/index.js';
import { TOPICS } from '../../core/index.js';
import { priceRecord } from '../transforms/support.js';
import { appendForeignBatch } from './foreign.js';
import { API, describeWithKafka } from './index.js';
import { useWorkerRigs } from './worker-rigs.js';

const KEEP = { retentionMs: null, retentionBytes: null };

describeWithKafka('workers on Kafka', { proxy: true }, (kafka) => {
  const { newRig, rigOn } = useWorkerRigs(kafka);
  // Before the rigs are closed.
  afterEach(() => {
    kafka.proxy.faultFor = () => 'pass';
  });

  it('start from the beginning of a topic that was created again, and distinguish the rows of both', async () => {
    const { rig, bus } = await newRig();
    await rig.append(TOPICS.orderBook, [priceRecord(1), priceRecord(2)]);
    await rig.worker();
    await rig.drained();
    await kafka.deleteTopic(bus.prefix + TOPICS.orderBook);
    await bus.ensureTopic(TOPICS.orderBook, { partitions: 2, ...KEEP });
    await rig.append(TOPICS.orderBook, [priceRecord(3), priceRecord(4), priceRecord(5)]);
    await rig.drained();
    expect(
      await rig.rows('SELECT uniqExact(_log) AS logs, groupArraySorted(9)(sequence) AS numbers FROM raw_records'),
    ).toEqual([{ logs: 2, numbers: [1, 2, 3, 4, 5] }]);
  });

  it('stop at records that cannot be read, and skip them only with --accept-loss, recording the gap', async () => {
    const bus = kafka.open();
    const topic = bus.prefix + TOPICS.orderBook;
    await kafka.createForeignTopic(topic, 2);
    const rig = rigOn(bus);
    await rig.prepare();
    // A key of partition 0, where the foreign batch goes.
    const [appended] = await bus.append(TOPICS.orderBook, [{ key: 'a', value: priceRecord(1) }]);
    const key = appended?.partition === 0 ? 'a' : 'c';
    await bus.append(TOPICS.orderBook, [{ key, value: priceRecord(2) }]);
    const [infos] = (await bus.partitions()).filter((p) => p.topic === TOPICS.orderBook && p.partition === 0);
    const bad = infos?.end ?? -1;
    await appendForeignBatch(
      kafka.brokers,
      topic,
      [1, 2, 3].map((n) => ({ key, value: priceRecord(n) })),
      'zstd',
    );
    await bus.append(TOPICS.orderBook, [{ key, value: priceRecord(3) }]);
    const stuck = await rig.worker();
    await expect(stuck.failed).rejects.toThrow(UnreadableRecordsError);
    await stuck.stop();
    await rig.worker({ acceptLoss: true });
    await rig.drained();
    expect(await rig.rows('SELECT sequence FROM raw_records ORDER BY sequence')).toEqual([
      { sequence: 1 },
      { sequence: 2 },
      { sequence: 3 },
    ]);
    expect(await rig.rows('SELECT _partition, first_offset, last_offset, cause FROM lost_ranges')).toEqual([
      { _partition: 0, first_offset: bad, last_offset: bad + 2, cause: expect.stringContaining('zstd') },
    ]);
  });

  it('stop when they lag and receive nothing, report the position, and the next one continues from there', async () => {
    const { rig, bus } = await newRig();
    await rig.append(TOPICS.orderBook, [priceRecord(1), priceRecord(2)]);
    const cut = kafka.open({
      prefix: bus.prefix,
      brokers: [kafka.proxy.address],
      stallMs: 3000,
      requestTimeoutMs: 5000,
    });
    const worker = await rigOn(cut).worker();
    await rig.drained();
    // The proxy forwards everything but fetches: the worker stays a member of its group and holds its partitions.
    let lost = 0;
    kafka.proxy.faultFor = (key) => {
      if (key !== API.fetch) return 'pass';
      lost++;
      return 'drop response';
    };
    // The fetch that is waiting still returns new records.
    await expect.poll(() => lost).toBeGreaterThan(0);
    await rig.append(TOPICS.orderBook, [priceRecord(3), priceRecord(4), priceRecord(5)]);
    const failure: unknown = await worker.failed.catch((error) => error);
    expect(failure).toBeInstanceOf(StalledError);
    expect(String(failure)).toMatch(
      /no record of chancery\.order-book\/\d was received for 3 s, although 3 are available/,
    );
    await worker.stop();
    await rig.worker();
    await rig.drained();
    expect(await rig.rows('SELECT sequence FROM raw_records ORDER BY sequence')).toEqual(
      [1, 2, 3, 4, 5].map((sequence) => ({ sequence })),
    );
  });
});
