import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  Connection,
  ExactlyOnceWriter,
  logTable,
  type PartitionStore,
  RowBinaryWriter,
  replacingTable,
  type TableBlock,
} from '../../../warehouse/index.js';
import { useClickHouse } from '../../support/clickhouse.js';

const context = useClickHouse();
const LOG = 'f7d2c0a4-1111-4222-8333-944455556666';
const TOKEN = `${LOG}/topic/3/0-29`;
const ticks = logTable({ name: 'ticks', columns: [['at', 'UInt32']], feedsMaterializedViews: true });
const states = replacingTable({
  name: 'states',
  columns: [
    ['id', 'String'],
    ['version', 'UInt64'],
  ],
  id: ['id'],
  version: 'version',
  feedsMaterializedViews: true,
});

/** A row per offset: three table partitions of `ticks` in the batch of offsets 0 to 29. */
function blocksOf(start: number, end: number): TableBlock[] {
  const writers = [new RowBinaryWriter(), new RowBinaryWriter()] as const;
  for (let offset = start; offset <= end; offset++) {
    for (const writer of writers) {
      writer.string(LOG);
      writer.u32(3);
      writer.u64(offset);
      writer.u32(0);
    }
    writers[0].u32(offset);
    writers[1].string(`id-${offset}`);
    writers[1].u64(offset);
  }
  const rows = end - start + 1;
  return [
    { table: ticks, rows, body: writers[0].take() },
    { table: states, rows, body: writers[1].take() },
  ];
}

describe('a batch that is finished after its token was forgotten', () => {
  let connection: Connection;
  beforeAll(() => {
    const endpoint = context.clickhouse.endpoint.owner;
    connection = new Connection({ endpoint, database: 'forgetful', application: 'test' });
  });
  afterAll(() => connection.close());

  beforeEach(async () => {
    const { run } = context.clickhouse;
    const range = '_log LowCardinality(String), _partition UInt32, _offset UInt64, _index UInt32';
    // Each table partition of a batch takes an entry of the window: it has capacity for one batch.
    const settings = 'non_replicated_deduplication_window = 3';
    await run('DROP DATABASE IF EXISTS forgetful SYNC');
    await run('CREATE DATABASE forgetful');
    await run(`CREATE TABLE forgetful.ticks (${range}, at UInt32) ENGINE = MergeTree
      PARTITION BY intDiv(at, 10) ORDER BY at SETTINGS ${settings}`);
    await run(`CREATE TABLE forgetful.states (${range}, id String, version UInt64) ENGINE = ReplacingMergeTree(version)
      ORDER BY id SETTINGS ${settings}`);
    await run('CREATE TABLE forgetful.seen (id String) ENGINE = ReplacingMergeTree ORDER BY id');
    // The columns of the target have another order than those of the view.
    await run(`CREATE TABLE forgetful.per_bucket (n UInt64, first_offset UInt64, bucket UInt32)
      ENGINE = ReplacingMergeTree ORDER BY (bucket, first_offset)`);
  });

  const addViews = async () => {
    const { run } = context.clickhouse;
    await run(`CREATE MATERIALIZED VIEW forgetful.per_bucket_of_ticks TO forgetful.per_bucket AS
      SELECT intDiv(at, 5) AS bucket, min(_offset) AS first_offset, count() AS n FROM forgetful.ticks GROUP BY bucket`);
    await run(
      'CREATE MATERIALIZED VIEW forgetful.seen_states TO forgetful.seen AS SELECT DISTINCT id FROM forgetful.states',
    );
  };
  const insert = async (blocks: readonly TableBlock[], token: string) => {
    for (const block of blocks) {
      const settings = { async_insert: 0, deduplicate_insert: 'enable', insert_deduplication_token: token };
      await connection.insert(block, { queryId: `${token}/${block.table.name}`, settings });
    }
  };
  /** Other batches fill the window. */
  const passWindow = async () => {
    await insert(blocksOf(100, 129), 'other');
    await context.clickhouse.run('ALTER TABLE forgetful.ticks DELETE WHERE _offset >= 100 SETTINGS mutations_sync = 2');
    await context.clickhouse.run(
      'ALTER TABLE forgetful.states DELETE WHERE _offset >= 100 SETTINGS mutations_sync = 2',
    );
  };
  const recover = async (attempt: number) => {
    const intent = { v: 1, end: 29, n: { ticks: 30, states: 30 }, attempt, transforms: '1', shard: 0 };
    let committed: { offset: number; intent?: string } = { offset: 0, intent: JSON.stringify(intent) };
    const partition: PartitionStore = {
      topic: 'topic',
      partition: 3,
      log: LOG,
      committed: async () => committed,
      commit: async (offset, text) => {
        committed = { offset, ...(text === undefined ? {} : { intent: text }) };
      },
      assertOwned: async () => undefined,
      heldForMs: Infinity,
    };
    const writer = new ExactlyOnceWriter({
      shards: [connection],
      tables: [ticks, states],
      transforms: '1',
      timing: { retryBaseMs: 1, retryCapMs: 2 },
    });
    const signal = new AbortController().signal;
    const open = await writer.open(partition, { rebuild: async (start, end) => blocksOf(start, end), signal });
    expect(open.nextOffset).toBe(30);
    await open.close();
  };
  const expectOnce = async () => {
    const { rows } = context.clickhouse;
    expect(await rows('SELECT count() AS rows, uniqExact(_offset) AS positions FROM forgetful.ticks')).toEqual([
      { rows: 30, positions: 30 },
    ]);
    expect(await rows('SELECT bucket, first_offset, n FROM forgetful.per_bucket FINAL ORDER BY bucket')).toEqual(
      [0, 1, 2, 3, 4, 5].map((bucket) => ({ bucket, first_offset: bucket * 5, n: 5 })),
    );
    expect(
      await rows(`SELECT (SELECT count() FROM forgetful.states FINAL) AS states,
        (SELECT count() FROM forgetful.seen FINAL WHERE toUInt32(substring(id, 4)) < 30) AS seen`),
    ).toEqual([{ states: 30, seen: 30 }]);
  };

  it('is not duplicated when it is complete', async () => {
    await addViews();
    await insert(blocksOf(0, 29), TOKEN);
    await passWindow();
    await context.clickhouse.run('TRUNCATE TABLE forgetful.per_bucket');
    await recover(0);
    await expectOnce();
  });

  it('is not duplicated when it was inserted with a later token', async () => {
    await addViews();
    await insert(blocksOf(0, 29), `${TOKEN}/r1`);
    await passWindow();
    await context.clickhouse.run('TRUNCATE TABLE forgetful.per_bucket');
    await recover(1);
    await expectOnce();
  });

  it('gets the missing table partitions, and no other twice', async () => {
    await addViews();
    await insert(blocksOf(0, 29), TOKEN);
    await context.clickhouse.run(
      'ALTER TABLE forgetful.ticks DELETE WHERE _offset BETWEEN 10 AND 19 SETTINGS mutations_sync = 2',
    );
    await passWindow();
    await context.clickhouse.run('TRUNCATE TABLE forgetful.per_bucket');
    await recover(0);
    await expectOnce();
  });

  it('gets the table partitions whose token was stored without rows', async () => {
    await addViews();
    await insert(blocksOf(0, 29), TOKEN);
    await context.clickhouse.run(
      'ALTER TABLE forgetful.ticks DELETE WHERE _offset BETWEEN 10 AND 19 SETTINGS mutations_sync = 2',
    );
    await recover(0);
    await expectOnce();
  });

  it('is processed by the materialized views that missed it', async () => {
    await insert(blocksOf(0, 29), TOKEN);
    await passWindow();
    await addViews();
    await recover(0);
    await expectOnce();
  });
});
