import { afterEach, expect, it } from 'vitest';
import { StalledError } from '../../bus/index.js';
import { TOPICS } from '../../core/index.js';
import { useClickHouse } from '../support/clickhouse.js';
import { priceRecord } from '../transforms/support.js';
import { WorkerRig } from '../transforms/worker-rig.js';
import { API, describeWithKafka } from './index.js';

describeWithKafka('a worker that gets no records although they are there', { own: { proxy: true } }, (kafka) => {
  const host = useClickHouse();
  let rig: WorkerRig | undefined;
  afterEach(() => rig?.close());

  it('ends with the place and how many wait, and one that is started again goes on there', {
    timeout: 120_000,
  }, async () => {
    const bus = kafka.open({ brokers: [kafka.proxy.address], stallMs: 1500, sessionTimeoutMs: 20_000 });
    rig = new WorkerRig(host.clickhouse.endpoint.owner, 'chancery', bus);
    await rig.prepare();
    await rig.append(TOPICS.orderBook, [priceRecord(1), priceRecord(2)]);
    const worker = await rig.worker();
    await rig.drained();
    kafka.proxy.fate = (key) => (key === API.fetch ? 'lose the answer' : 'pass');
    await rig.append(TOPICS.orderBook, [priceRecord(3), priceRecord(4), priceRecord(5)]);
    const failure = worker.failed.catch((error: unknown) => error);
    expect(await failure).toBeInstanceOf(StalledError);
    await expect(worker.failed).rejects.toThrow(
      /no record of chancery\.order-book\/\d arrived for 2 s, although 3 are/,
    );
    await worker.stop();
    kafka.proxy.fate = () => 'pass';
    await rig.worker();
    await rig.drained();
    expect(await rig.rows('SELECT groupArraySorted(9)(n) AS numbers FROM raw_records')).toEqual([
      { numbers: [1, 2, 3, 4, 5] },
    ]);
  });
});
