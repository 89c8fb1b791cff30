import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { TOPICS } from '../../core/index.js';
import { TRANSFORM_VERSION } from '../../transforms/version.js';
import { TestDatabase, useDatabase } from '../support/database.js';
import { startFaultProxy } from '../support/fault-proxy.js';
import { until } from '../support/until.js';
import { priceRecord } from './support.js';
import { WorkerRig } from './worker-rig.js';

const host = useDatabase({ migrated: true });
let rig: WorkerRig | undefined;

async function newRig({ name, owner }: Pick<TestDatabase, 'name' | 'owner'> = host.database): Promise<WorkerRig> {
  rig = new WorkerRig(owner, name);
  await rig.prepare();
  return rig;
}

afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

describe('a worker', () => {
  it('stops at lost records with a message that names --accept-loss, and continues after them with that option', async () => {
    const it = await newRig();
    await it.append(TOPICS.orderBook, [priceRecord(1), priceRecord(2)]);
    const first = await it.worker();
    await it.drained();
    await first.stop();
    const partition = (await it.bus.partitions()).find((p) => p.topic === TOPICS.orderBook && p.end > 0)?.partition;
    await it.append(TOPICS.orderBook, [priceRecord(3), priceRecord(4)]);
    await it.expire(TOPICS.orderBook);
    await it.append(TOPICS.orderBook, [priceRecord(5), priceRecord(6)]);
    const stuck = await it.worker();
    await expect(stuck.failed).rejects.toThrow(/offset 2 .* was deleted by retention.*--accept-loss/);
    await stuck.stop();
    await it.worker({ acceptLoss: true });
    await it.drained();
    expect(
      await it.rows('SELECT _topic, _partition, _offset, first_offset, last_offset, cause FROM lost_ranges'),
    ).toEqual([
      {
        _topic: TOPICS.orderBook,
        _partition: partition,
        _offset: 3,
        first_offset: 2,
        last_offset: 3,
        cause: 'retention deleted them before the worker read them',
      },
    ]);
    expect(await it.rows('SELECT sequence FROM raw_records ORDER BY sequence')).toEqual([
      { sequence: 1 },
      { sequence: 2 },
      { sequence: 5 },
      { sequence: 6 },
    ]);
  });

  it('finishes exactly the batch that a killed worker had begun, whichever of its rows were stored', async () => {
    const it = await newRig();
    await it.append(
      TOPICS.orderBook,
      [1, 2, 2, 3].map((n) => priceRecord(n)),
    );
    const dead = await it.worker();
    await it.drained();
    await dead.stop();
    // As if the worker was killed when its raw records were stored, and the server had the ticks' token but not their rows.
    const rows = { raw_records: 3, price_ticks: 3 };
    await it.commit(TOPICS.orderBook, 0, {
      v: 1,
      end: 3,
      n: rows,
      attempt: 0,
      transforms: TRANSFORM_VERSION,
      shard: 0,
    });
    await host.database.run('ALTER TABLE price_ticks DELETE WHERE 1 SETTINGS mutations_sync = 1');
    await it.append(TOPICS.orderBook, [priceRecord(4)]);
    await it.worker();
    await it.drained();
    expect(await it.rows('SELECT _offset FROM price_ticks ORDER BY _offset')).toEqual(
      [0, 1, 3, 4].map((_offset) => ({ _offset })),
    );
    expect(await it.rows('SELECT sequence FROM raw_records ORDER BY _offset')).toEqual(
      [1, 2, 3, 4].map((n) => ({ sequence: n })),
    );
  });

  it('does not finish a batch of another version of the transforms', async () => {
    const it = await newRig();
    await it.append(TOPICS.orderBook, [priceRecord(1), priceRecord(2)]);
    const n = { raw_records: 2, price_ticks: 2 };
    await it.commit(TOPICS.orderBook, 0, { v: 1, end: 1, n, attempt: 0, transforms: '0', shard: 0 });
    const stuck = await it.worker();
    await expect(stuck.failed).rejects.toThrow(/begun with version 0 of the transforms.*--accept-loss/);
    await stuck.stop();
    await it.append(TOPICS.orderBook, [priceRecord(3)]);
    await it.worker({ acceptLoss: true });
    await it.drained();
    expect(await it.rows('SELECT first_offset, last_offset FROM lost_ranges')).toEqual([
      { first_offset: 0, last_offset: 1 },
    ]);
    expect(await it.rows('SELECT sequence FROM raw_records')).toEqual([{ sequence: 3 }]);
  });

  it('stops when the group was set back to records that have rows', async () => {
    const it = await newRig();
    await it.append(
      TOPICS.orderBook,
      [1, 2, 3].map((n) => priceRecord(n)),
    );
    const first = await it.worker();
    await it.drained();
    await first.stop();
    await it.commit(TOPICS.orderBook, 1);
    const moved = await it.worker();
    await expect(moved.failed).rejects.toThrow(/is at offset 1 of .*rows up to offset 2.*set it to 3/);
    expect(await it.rows('SELECT count() AS n FROM price_ticks')).toEqual([{ n: 3 }]);
  });

  it('waits while ClickHouse is down, logs that once, and resumes', async () => {
    let down = false;
    let refused = 0;
    const { owner, name } = host.database;
    const proxy = await startFaultProxy(
      () => owner.url,
      () => {
        if (!down) return undefined;
        refused += 1;
        return 'bad-gateway';
      },
      () => 0,
    );
    const it = await newRig({ name, owner: { ...owner, url: proxy.url } });
    const lines: { level: number; msg: string }[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const worker = await it.worker({}, new Registry(), log);
    await it.append(TOPICS.orderBook, [priceRecord(1)]);
    await it.drained();
    down = true;
    await it.append(TOPICS.orderBook, [priceRecord(2)]);
    const turn = () => new Promise((resolve) => setTimeout(resolve, 10));
    while (worker.health().ok) await turn();
    await it.append(TOPICS.orderBook, [priceRecord(3), priceRecord(4)]);
    // The first failure was logged; when a third further request is rejected, it has received two more failures.
    const heard = refused;
    while (refused < heard + 3) await turn();
    const warned = lines.filter((line) => line.level >= 40);
    expect(warned.map((line) => line.msg)).toEqual([
      expect.stringMatching(/^ClickHouse accepts no rows: .*answered HTTP 502.*; records wait on the bus; retrying/),
    ]);
    expect(worker.health().detail).toMatchObject({ cause: expect.stringContaining('ClickHouse accepts no rows: ') });
    down = false;
    await it.drained();
    expect(await it.rows('SELECT _offset FROM price_ticks ORDER BY _offset')).toEqual(
      [0, 1, 2, 3].map((_offset) => ({ _offset })),
    );
    // The rows are there before the worker has read the response to its commit.
    await until(() => worker.health().ok);
    expect(lines.at(-1)?.msg).toBe('ClickHouse accepts rows again');
    await it.close();
    rig = undefined;
    await proxy.close();
  });

  it('refuses tables that differ from its own definitions, naming the difference', async () => {
    const altered = await TestDatabase.create({ migrated: true });
    const it = await newRig(altered);
    await altered.run(`ALTER TABLE polls DROP COLUMN truncated`);
    await expect(it.worker()).rejects.toThrow(/column polls.truncated does not exist.*chancery migrate/);
  });
});
