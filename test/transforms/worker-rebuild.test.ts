import { afterEach, describe, expect, it } from 'vitest';
import { partitionOf } from '../../bus/index.js';
import { type Settings, TOPICS } from '../../core/index.js';
import { TRANSFORM_TABLES } from '../../transforms/index.js';
import { TestDatabase, useDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { priceRecord } from './support.js';
import { WorkerRig } from './worker-rig.js';

const host = useDatabase({ migrated: true });
const rigs: WorkerRig[] = [];
const databases: TestDatabase[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
  for (const database of databases.splice(0)) await database.end();
});

async function newRig(): Promise<WorkerRig> {
  const rig = new WorkerRig(host.database.owner, host.database.name);
  rigs.push(rig);
  await rig.prepare();
  return rig;
}

/** The same bus with an empty database, as after its folder was deleted, or with another `--database`. */
async function withEmptyDatabase({ bus }: WorkerRig): Promise<WorkerRig> {
  const database = await TestDatabase.create({ migrated: true });
  databases.push(database);
  const rig = new WorkerRig(database.owner, database.name, bus);
  rigs.push(rig);
  return rig;
}

const prices = (...sequences: number[]): Buffer[] => sequences.map((n) => priceRecord(n));

/** Writes these records with a worker that is stopped afterwards, each group as batches of its own. */
async function record(rig: WorkerRig, ...groups: Buffer[][]): Promise<void> {
  const worker = await rig.worker();
  for (const values of groups) {
    await rig.append(TOPICS.orderBook, values);
    await rig.drained();
  }
  await worker.stop();
}

async function refusal(rig: WorkerRig): Promise<string> {
  const worker = await rig.worker();
  const error: unknown = await worker.failed.catch((failure: unknown) => failure);
  await worker.stop();
  return String(error);
}

async function offsetsOf(rig: WorkerRig, table: string): Promise<number[]> {
  return (await rig.rows<{ o: number }>(`SELECT _offset AS o FROM ${table} ORDER BY o`)).map(({ o }) => o);
}

/** Runs a worker until both tables have these offsets, once each. */
async function expectOffsets(rig: WorkerRig, offsets: readonly number[], settings: Partial<Settings>): Promise<void> {
  const worker = await rig.worker(settings);
  await until(async () => {
    const last = (await rig.bus.committed(rig.settings().group)).find((c) => c.topic === TOPICS.orderBook);
    const now = await offsetsOf(rig, 'price_ticks');
    return (now.length >= offsets.length && last?.intent === undefined) || `offsets ${now}`;
  });
  await worker.stop();
  for (const table of ['raw_records', 'price_ticks']) expect(await offsetsOf(rig, table), table).toEqual(offsets);
}

/** Deletes the rows from an offset on, as in a backup that was made before. */
async function restoreBefore(offset: number, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    await host.database.run(`ALTER TABLE ${table} DELETE WHERE _offset >= ${offset} SETTINGS mutations_sync = 1`);
  }
}

describe('a worker whose database was replaced', () => {
  it('stops and names both options; --rebuild writes every row again, and has no effect the second time', async () => {
    const before = await newRig();
    await record(before, prices(1, 2), prices(3, 3, 4));
    const rig = await withEmptyDatabase(before);
    expect(await refusal(rig)).toMatch(
      /^IntegrityError: rows of chancery\.order-book\/\d before offset 5 are missing: database \w+ at http:\S+ is not the one that they were written to: that was deleted or replaced; run `chancery transform --rebuild` to write them again from the bus, or `chancery transform --accept-loss` /,
    );
    expect(await offsetsOf(rig, 'raw_records')).toEqual([]);
    await expectOffsets(rig, [0, 1, 2, 4], { rebuild: true });
    await rig.append(TOPICS.orderBook, prices(5));
    await expectOffsets(rig, [0, 1, 2, 4, 5], { rebuild: true });
    await expectOffsets(rig, [0, 1, 2, 4, 5], {});
    expect(await rig.rows('SELECT count() AS n FROM lost_ranges')).toEqual([{ n: 0 }]);
  });

  it('gives up the batch that was begun, and rebuilds its records with the others', async () => {
    const before = await newRig();
    await record(before, prices(1, 2, 3));
    const committed = (await before.bus.committed(before.settings().group)).find((c) => c.offset === 3);
    await before.append(TOPICS.orderBook, prices(4, 5));
    const n = { raw_records: 2, price_ticks: 2 };
    const begun = { v: 1, end: 4, n, attempt: 0, transforms: 'another', shard: 0 };
    await before.commit(TOPICS.orderBook, 3, begun, committed?.checkpoint);
    const rig = await withEmptyDatabase(before);
    await expectOffsets(rig, [0, 1, 2, 3, 4], { rebuild: true });
  });

  it('continues a rebuild that was interrupted, without the option', async () => {
    const rig = await newRig();
    const all = Array.from({ length: 40 }, (_, i) => i);
    await record(rig, prices(...all.map((i) => i + 1)));
    const committed = (await rig.bus.committed(rig.settings().group)).find((c) => c.offset === 40);
    const { databases } = JSON.parse(committed?.checkpoint ?? '{}') as { databases: object };
    // As if a worker was killed that rebuilt a backup with gaps.
    for (const table of ['raw_records', 'price_ticks']) {
      const missing = `_offset BETWEEN 20 AND 27 OR _offset BETWEEN 30 AND 33`;
      await host.database.run(`ALTER TABLE ${table} DELETE WHERE ${missing} SETTINGS mutations_sync = 1`);
    }
    await rig.commit(TOPICS.orderBook, 20, undefined, JSON.stringify({ v: 1, databases, storedBefore: 40 }));
    await expectOffsets(rig, all, {});
    await rig.drained();
    const [done] = (await rig.bus.committed(rig.settings().group)).filter((c) => c.topic === TOPICS.orderBook);
    expect(JSON.parse(done?.checkpoint ?? '{}')).toEqual({
      v: 1,
      databases,
      last: { start: 20, end: 39, shard: 0, rows: 20 },
    });
  });

  it('records in lost_ranges what the bus no longer has', async () => {
    const before = await newRig();
    await record(before, prices(1, 2, 3));
    await before.expire(TOPICS.orderBook);
    await record(before, prices(4, 5));
    const rig = await withEmptyDatabase(before);
    await expectOffsets(rig, [3, 4], { rebuild: true });
    expect(await rig.rows('SELECT first_offset, last_offset, cause, partitions FROM lost_ranges')).toEqual([
      { first_offset: 0, last_offset: 2, cause: 'retention deleted them before the worker read them', partitions: 2 },
    ]);
  });

  it('continues with --accept-loss, once, and the loss is in lost_ranges, coverage and gaps', async () => {
    const event = 'e0000000-0000-4000-8000-000000000001';
    const before = await newRig();
    await before.append(TOPICS.orderBook, prices(1, 2, 3), event);
    const writer = await before.worker();
    await before.drained();
    await writer.stop();
    const rig = await withEmptyDatabase(before);
    const worker = await rig.worker({ acceptLoss: true });
    await until(async () => (await offsetsOf(rig, 'lost_ranges')).length > 0 || 'no loss yet');
    await before.append(TOPICS.orderBook, prices(4), event);
    await rig.drained();
    await worker.stop();
    expect(await offsetsOf(rig, 'raw_records')).toEqual([3]);
    const [lost] = await rig.rows<Record<string, unknown>>(
      "SELECT first_offset, last_offset, cause, _partition, partitions, dateDiff('microsecond', begins_at, ends_at) AS length FROM lost_ranges",
    );
    expect(lost).toEqual({
      first_offset: 0,
      last_offset: 2,
      cause: expect.stringContaining('that was deleted or replaced'),
      _partition: partitionOf(event, 2),
      partitions: 2,
      length: 1,
    });
    await expectOffsets(rig, [3], { acceptLoss: true });
    expect(await offsetsOf(rig, 'lost_ranges')).toEqual([2]);
  });

  it('refuses a database with rows beyond the end of the log', async () => {
    const before = await newRig();
    await record(before, prices(1, 2));
    const [{ log = '', partition = 0 } = {}] = (await before.bus.partitions()).filter((p) => p.end > 0);
    const rig = await withEmptyDatabase(before);
    await rig.connection.command(
      `INSERT INTO ${rig.database}.raw_records (_topic, _log, _partition, _offset, received_at)
       SELECT '${TOPICS.orderBook}', '${log}', ${partition}, 9, now64(6)`,
    );
    const worker = await rig.worker({ rebuild: true });
    await expect(worker.failed).rejects.toThrow(/rows up to offset 9, but the log ends at 2: restore the bus and/);
  });
});

describe('a worker whose database is an older backup', () => {
  const feeds = TRANSFORM_TABLES.map(({ name }) => name).filter((name) => name !== 'lost_ranges');

  it('stops; --rebuild inserts only what is missing, also of a batch that was half stored', async () => {
    const rig = await newRig();
    await record(rig, prices(1, 2, 3), prices(4, 5, 6), prices(7, 8));
    await restoreBefore(4, feeds);
    await restoreBefore(3, ['price_ticks']);
    expect(await refusal(rig)).toMatch(
      /before offset 8 are missing: database \w+ at http:\S+ lacks rows of offsets 6 to 7: it was restored from an older backup; run/,
    );
    await expectOffsets(rig, [0, 1, 2, 3, 4, 5, 6, 7], { rebuild: true });
    expect(await rig.rows('SELECT count() AS n FROM lost_ranges')).toEqual([{ n: 0 }]);
    await expectOffsets(rig, [0, 1, 2, 3, 4, 5, 6, 7], {});
  });

  it('loses with --accept-loss only what the backup lacks', async () => {
    const rig = await newRig();
    await record(rig, prices(1, 2, 3), prices(4, 5));
    await restoreBefore(2, feeds);
    // All is committed: the worker would be stopped before it has seen the loss.
    const worker = await rig.worker({ acceptLoss: true });
    await until(async () => (await offsetsOf(rig, 'lost_ranges')).length > 0 || 'no loss yet');
    await worker.stop();
    expect(await offsetsOf(rig, 'raw_records')).toEqual([0, 1]);
    expect(await rig.rows('SELECT first_offset, last_offset FROM lost_ranges')).toEqual([
      { first_offset: 2, last_offset: 4 },
    ]);
    await rig.append(TOPICS.orderBook, prices(6));
    await expectOffsets(rig, [0, 1, 5], {});
  });
});

describe('a worker whose database is complete continues', () => {
  it('after batches of repeated copies, unreadable records, and without bodies', async () => {
    const rig = await newRig();
    const groups = [prices(1, 2), prices(2, 2), [Buffer.from('no envelope')], prices(1)];
    // Each by another worker, which finds what the one before it wrote.
    for (const values of groups) await record(rig, values);
    const withoutBodies = await rig.worker({ keepBodies: false });
    await rig.append(TOPICS.orderBook, prices(3));
    await rig.drained();
    await withoutBodies.stop();
    await record(rig, prices(4));
    expect(await offsetsOf(rig, 'raw_records')).toEqual([0, 1, 6, 7]);
    expect(await offsetsOf(rig, 'dead_letters')).toEqual([4]);
  });

  it('at the offset that a tool has set, if the record before it has a row', async () => {
    const rig = await newRig();
    await record(rig, prices(1, 2, 3));
    await rig.commit(TOPICS.orderBook, 3);
    await rig.append(TOPICS.orderBook, prices(4));
    await expectOffsets(rig, [0, 1, 2, 3], {});
    await rig.append(TOPICS.orderBook, prices(5, 6));
    await rig.commit(TOPICS.orderBook, 6);
    expect(await refusal(rig)).toMatch(
      /before offset 6 are missing: database \w+ at http:\S+ has no row of offset 5; run/,
    );
  });
});
