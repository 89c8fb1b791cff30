import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PartitionLostError } from '../../../bus/index.js';
import { IntegrityError, isRetryable, Random } from '../../../core/index.js';
import {
  Connection,
  ExactlyOnceWriter,
  type Loss,
  logTable,
  type PartitionStore,
  RowBinaryWriter,
  replacingTable,
  SUMMARY_FOLLOWS,
  type TableBlock,
  type WriterEvent,
} from '../../../warehouse/index.js';
import { useClickHouse } from '../../support/clickhouse.js';
import { FAULTS, type Fault, startFaultProxy } from '../../support/fault-proxy.js';
import { freePort } from '../../support/free-ports.js';
import { until } from '../../support/until.js';

const context = useClickHouse();
const RECORDS = 3500;
const ticks = logTable({ name: 'ticks', columns: [['at', 'UInt32']], feedsMaterializedViews: true });
const raw = logTable({ name: 'raw', severalTopics: true, columns: [['body', 'String']] });
const states = replacingTable({
  name: 'states',
  columns: [
    ['id', 'String'],
    ['version', 'UInt64'],
  ],
  id: ['id'],
  version: 'version',
});
const TABLES = [ticks, raw, states];
/** What the materialized view makes of a batch of `ticks`. */
const summaries = logTable({
  name: 'summaries',
  columns: [
    ['bucket', 'UInt32'],
    ['first_offset', 'UInt64'],
    ['n', 'UInt64'],
  ],
  feedsMaterializedViews: true,
});
const LOG = 'f7d2c0a4-1111-4222-8333-944455556666';

/** The rows of offsets [start, end]: several per record, several partitions of a table per batch. */
function blocksOf(start: number, end: number): TableBlock[] {
  const writers = TABLES.map((table) => ({ table, rows: 0, writer: new RowBinaryWriter() }));
  const add = (at: number, offset: number, index: number): RowBinaryWriter => {
    const { table, writer } = writers[at] as (typeof writers)[number];
    (writers[at] as (typeof writers)[number]).rows += 1;
    if (table === raw) writer.string('topic');
    writer.string(LOG);
    writer.u32(3);
    writer.u64(offset);
    writer.u32(index);
    return writer;
  };
  for (let offset = start; offset <= end; offset++) {
    for (let index = 0; index < offset % 4; index++) add(0, offset, index).u32(offset);
    add(1, offset, 0).string(`body of ${offset}`);
    if (offset % 5 === 0) {
      const writer = add(2, offset, 0);
      writer.string(`id-${offset % 50}`);
      writer.u64(offset);
    }
  }
  const blocks = writers.filter(({ rows }) => rows > 0);
  return blocks.map(({ table, rows, writer }) => ({
    table,
    rows,
    body: writer.take(),
    ...(table === ticks && start % 2 === 0 ? { summary: summaryOf(start, end) } : {}),
  }));
}

function summaryOf(start: number, end: number): TableBlock {
  const buckets = new Map<number, { first: number; n: number }>();
  for (let offset = start; offset <= end; offset++) {
    if (offset % 4 === 0) continue;
    const bucket = Math.floor(offset / 100);
    const { first, n } = buckets.get(bucket) ?? { first: offset, n: 0 };
    buckets.set(bucket, { first, n: n + (offset % 4) });
  }
  const writer = new RowBinaryWriter();
  for (const [bucket, { first, n }] of buckets) {
    writer.string(LOG);
    writer.u32(3);
    writer.u64(first);
    writer.u32(0);
    writer.u32(bucket);
    writer.u64(first);
    writer.u64(n);
  }
  return { table: summaries, rows: buckets.size, body: writer.take() };
}

/** The committed offset of the partition; the last to open it owns it. */
class Committed {
  offset = 0;
  intent: string | undefined;
  #owner = 0;

  open(): PartitionStore {
    this.#owner += 1;
    const owner = this.#owner;
    const assertOwned = async () => {
      if (this.#owner !== owner) throw new PartitionLostError('topic', 3, 'group');
    };
    return {
      topic: 'topic',
      partition: 3,
      log: LOG,
      committed: async () => ({ offset: this.offset, ...(this.intent === undefined ? {} : { intent: this.intent }) }),
      commit: async (offset, intent) => {
        await assertOwned();
        this.offset = offset;
        this.intent = intent;
      },
      assertOwned,
      heldForMs: Infinity,
    };
  }
}

const range = '_log LowCardinality(String), _partition UInt32, _offset UInt64, _index UInt32';
const settings = 'non_replicated_deduplication_window = 10000';

beforeAll(async () => {
  const { run } = context.clickhouse;
  await run('CREATE DATABASE once');
  await run(`CREATE TABLE once.ticks (${range}, at UInt32) ENGINE = MergeTree
    PARTITION BY intDiv(at, 300) ORDER BY at SETTINGS ${settings}`);
  await run(`CREATE TABLE once.raw (_topic LowCardinality(String), ${range}, body String) ENGINE = MergeTree
    PARTITION BY intDiv(_offset, 1000) ORDER BY _offset SETTINGS ${settings}`);
  await run(`CREATE TABLE once.states (${range}, id String, version UInt64) ENGINE = ReplacingMergeTree(version)
    ORDER BY id SETTINGS ${settings}`);
  await run(`CREATE TABLE once.per_bucket (bucket UInt32, first_offset UInt64, n UInt64)
    ENGINE = ReplacingMergeTree ORDER BY (bucket, first_offset)`);
  await run(`CREATE MATERIALIZED VIEW once.per_bucket_of_ticks TO once.per_bucket AS
    SELECT intDiv(at, 100) AS bucket, min(_offset) AS first_offset, count() AS n FROM once.ticks
    WHERE getSetting('log_comment') != '${SUMMARY_FOLLOWS}' GROUP BY bucket`);
  await run(`CREATE TABLE once.summaries (${range}, bucket UInt32, first_offset UInt64, n UInt64) ENGINE = Null`);
  await run(`CREATE MATERIALIZED VIEW once.per_bucket_of_summaries TO once.per_bucket AS
    SELECT bucket, first_offset, n FROM once.summaries`);
});

async function expectEverythingOnce(): Promise<void> {
  const { rows } = context.clickhouse;
  const positions = 'count() AS rows, uniqExact(_offset, _index) AS positions';
  const offsets = Array.from({ length: RECORDS }, (_, offset) => offset);
  const tickRows = offsets.reduce((sum, offset) => sum + (offset % 4), 0);
  expect(await rows(`SELECT ${positions} FROM once.ticks`)).toEqual([{ rows: tickRows, positions: tickRows }]);
  expect(await rows(`SELECT ${positions} FROM once.raw`)).toEqual([{ rows: RECORDS, positions: RECORDS }]);
  const newest = (id: number) => Math.max(...offsets.filter((offset) => offset % 5 === 0 && offset % 50 === id));
  expect(await rows('SELECT id, version FROM once.states FINAL ORDER BY version')).toEqual(
    [0, 5, 10, 15, 20, 25, 30, 35, 40, 45]
      .map((id) => ({ id: `id-${id}`, version: newest(id) }))
      .sort((a, b) => a.version - b.version),
  );
  expect(await rows('SELECT sum(n) AS n FROM once.per_bucket FINAL')).toEqual([{ n: tickRows }]);
}

describe('the exactly-once writer against ClickHouse', () => {
  it('writes every row once while network, server and workers fail', async () => {
    const random = new Random(11);
    const calm = { faults: false };
    let injected = 0;
    let batches = 0;
    const chooseFault = (path: string): Fault | undefined => {
      if (calm.faults) return undefined;
      const chance = path.includes('INSERT') ? 0.35 : 0.03;
      return random.next() < chance ? FAULTS[injected++ % FAULTS.length] : undefined;
    };
    const proxy = await startFaultProxy(
      () => context.clickhouse.endpoint.url,
      chooseFault,
      () => random.next() * 300,
    );
    const committed = new Committed();
    const counts = { deaths: 0, kills: 0, recovered: 0, waited: 0 };
    let killTimer: NodeJS.Timeout | undefined;

    while (committed.offset < RECORDS) {
      const connection = new Connection({
        endpoint: { ...context.clickhouse.endpoint.owner, url: proxy.url },
        database: 'once',
        application: 'test',
        timeoutMs: 5000,
      });
      const death = new AbortController();
      const writer = new ExactlyOnceWriter({
        shards: [connection],
        tables: TABLES,
        transforms: '1',
        random: () => random.next(),
        timing: { retryBaseMs: 20, retryCapMs: 200, killAfterMs: 1000 },
        onEvent: ({ type }) => {
          if (type === 'recovered') counts.recovered += 1;
          if (type === 'waiting') counts.waited += 1;
        },
      });
      try {
        const rebuild = async (start: number, end: number) => blocksOf(start, end);
        const partition = await writer.open(committed.open(), { rebuild, signal: death.signal });
        while (partition.nextOffset < RECORDS) {
          const start = partition.nextOffset;
          const end = Math.min(RECORDS - 1, start + Math.floor(random.next() * 250));
          void partition.write({ start, end, blocks: blocksOf(start, end) }).catch(() => undefined);
          batches += 1;
          if (batches % 8 === 0) {
            counts.deaths += 1;
            setTimeout(() => death.abort(new PartitionLostError('topic', 3, 'killed')), random.next() * 60);
          } else if (batches % 9 === 0) {
            counts.kills += 1;
            clearTimeout(killTimer);
            killTimer = setTimeout(() => process.kill(context.clickhouse.endpoint.pid, 'SIGKILL'), random.next() * 30);
          }
          await partition.ready();
        }
        await partition.flush();
      } catch (error) {
        if (!isRetryable(error)) throw error;
      } finally {
        await connection.close();
      }
    }
    clearTimeout(killTimer);
    calm.faults = true;
    await proxy.quiesced();
    await proxy.close();
    for (const fault of FAULTS) expect(proxy.struck.get(fault) ?? 0, fault).toBeGreaterThan(0);
    expect(counts.deaths).toBeGreaterThan(1);
    expect(counts.kills).toBeGreaterThan(1);
    expect(counts.recovered).toBeGreaterThan(0);
    expect(counts.waited).toBeGreaterThan(0);
    await expectEverythingOnce();
  });
});

describe('the writer', () => {
  const connections: Connection[] = [];
  afterAll(async () => {
    for (const connection of connections) await connection.close();
  });
  const connect = (url = context.clickhouse.endpoint.url): Connection => {
    const connection = new Connection({
      endpoint: { ...context.clickhouse.endpoint.owner, url },
      database: 'writer',
      application: 'test',
    });
    connections.push(connection);
    return connection;
  };
  const never = new AbortController().signal;
  const timing = { retryBaseMs: 1, retryCapMs: 2 };
  const rebuild = async (start: number, end: number) => blocksOf(start, end);
  const lost = logTable({ name: 'lost', columns: [['cause', 'String']] });
  const writerOf = (connection: Connection, transforms = '1', events: WriterEvent[] = []) =>
    new ExactlyOnceWriter({
      shards: [connection],
      tables: [...TABLES, lost],
      transforms,
      timing,
      onEvent: (event) => events.push(event),
    });

  beforeEach(async () => {
    const { run } = context.clickhouse;
    await run('DROP DATABASE IF EXISTS writer SYNC');
    await run('CREATE DATABASE writer');
    for (const [name, extra] of [
      ['ticks', 'at UInt32'],
      ['lost', 'cause String'],
    ]) {
      await run(
        `CREATE TABLE writer.${name} (${range}, ${extra}) ENGINE = MergeTree ORDER BY _offset SETTINGS ${settings}`,
      );
    }
    await run(`CREATE TABLE writer.raw (_topic LowCardinality(String), ${range}, body String) ENGINE = MergeTree
      ORDER BY _offset SETTINGS ${settings}`);
    await run(`CREATE TABLE writer.states (${range}, id String, version UInt64) ENGINE = ReplacingMergeTree(version)
      ORDER BY id SETTINGS ${settings}`);
  });
  const rowsIn = async (table: string) =>
    (await context.clickhouse.rows<{ n: number }>(`SELECT count() AS n FROM writer.${table}`))[0]?.n;

  it('commits the next intent together with the end of the previous batch', async () => {
    const committed = new Committed();
    const commits: [number, boolean][] = [];
    const store = committed.open();
    const watched: PartitionStore = {
      ...store,
      commit: (offset, intent) => {
        commits.push([offset, intent !== undefined]);
        return store.commit(offset, intent);
      },
    };
    const partition = await writerOf(connect()).open(watched, { rebuild, signal: never });
    const writes = [0, 10, 20].map((start) =>
      partition.write({ start, end: start + 9, blocks: blocksOf(start, start + 9) }),
    );
    await Promise.all(writes);
    await partition.write({ start: 30, end: 35, blocks: [] });
    expect(commits).toEqual([
      [0, true],
      [10, true],
      [20, true],
      [30, false],
      [36, false],
    ]);
    expect(partition.nextOffset).toBe(36);
    await expect(partition.write({ start: 40, end: 41, blocks: [] })).rejects.toThrow('expected one from 36');
    await partition.close();
    await expect(partition.write({ start: 36, end: 41, blocks: [] })).rejects.toThrow('is closed');
  });

  it('stops with ClickHouse’s error when a batch is refused, and finishes it when the cause is fixed', async () => {
    await context.clickhouse.run('ALTER TABLE writer.raw RENAME COLUMN body TO text');
    const committed = new Committed();
    const partition = await writerOf(connect()).open(committed.open(), { rebuild, signal: never });
    await expect(partition.write({ start: 0, end: 9, blocks: blocksOf(0, 9) })).rejects.toThrow(
      /^ClickHouse refuses the rows of offsets 0 to 9 of topic\/3 \(tried 3 times\): ClickHouse: There is no column body/,
    );
    await expect(partition.ready()).rejects.toThrow(IntegrityError);
    await expect(partition.write({ start: 10, end: 19, blocks: [] })).rejects.toThrow('ClickHouse refuses');
    expect(committed.offset).toBe(0);

    await context.clickhouse.run('ALTER TABLE writer.raw RENAME COLUMN text TO body');
    const next = await writerOf(connect()).open(committed.open(), { rebuild, signal: never });
    expect(next.nextOffset).toBe(10);
    expect([await rowsIn('raw'), await rowsIn('ticks')]).toEqual([10, 13]);
  });

  it('waits while ClickHouse does not respond, and reports it', async () => {
    const closed = await freePort();
    const events: WriterEvent[] = [];
    const stop = new AbortController();
    const writer = writerOf(connect(`http://127.0.0.1:${closed}`), '1', events);
    const partition = await writer.open(new Committed().open(), { rebuild, signal: stop.signal });
    const written = partition.write({ start: 0, end: 9, blocks: blocksOf(0, 9) });
    await until(() => events.filter((event) => event.type === 'waiting').length >= 5);
    expect(events.find((event) => event.type === 'waiting')?.cause).toMatch(
      /no response from ClickHouse at .*ECONNREFUSED/,
    );
    stop.abort(new Error('enough'));
    await expect(written).rejects.toThrow('enough');
    await partition.close();
  });

  it('waits for the end of an insert that a stopped worker left half sent, and then writes its batch', async () => {
    const committed = new Committed();
    const intent = { v: 1, end: 9, n: { raw: 10 }, attempt: 0, transforms: '1', shard: 0 };
    await committed.open().commit(0, JSON.stringify(intent));
    const { url, owner } = context.clickhouse.endpoint;
    const query = 'INSERT INTO writer.raw FORMAT RowBinary';
    const hanging = request(`${url}/?${new URLSearchParams({ query, query_id: `${LOG}/topic/3/0-9/raw` })}`, {
      method: 'POST',
      headers: {
        'X-ClickHouse-User': 'owner',
        'X-ClickHouse-Key': owner.password.reveal(),
        'content-length': 2_000_000,
      },
    });
    hanging.on('error', () => undefined).write(Buffer.alloc(1_000_000));
    const running = () => context.clickhouse.rows("SELECT query_id FROM system.processes WHERE query LIKE 'INSERT%'");
    await until(async () => (await running()).length > 0);

    const connection = connect();
    const writer = new ExactlyOnceWriter({
      shards: [connection],
      tables: TABLES,
      transforms: '1',
      timing: { ...timing, killAfterMs: 100 },
    });
    const rebuildRaw = async () => blocksOf(0, 9).filter((block) => block.table === raw);
    const opened = writer.open(committed.open(), { rebuild: rebuildRaw, signal: never });
    // The writer has found the insert and waits: the server can end it only when the rest arrives, or the connection ends.
    const killed = () =>
      context.clickhouse.rows("SELECT 1 FROM system.processes WHERE query LIKE 'INSERT%' AND is_cancelled");
    await until(async () => (await killed()).length > 0);
    expect(await rowsIn('raw')).toBe(0);
    hanging.destroy();
    const partition = await opened;
    expect(partition.nextOffset).toBe(10);
    expect(await running()).toEqual([]);
    expect(await rowsIn('raw')).toBe(10);
  });

  it('sends nothing when too much time passed since its ownership was confirmed', async () => {
    let now = 0;
    let heldUp = 0;
    const sleep = async (ms: number) => {
      now += ms;
    };
    const clock = { nowMs: () => now, elapsedMs: () => now, nowMicros: () => now * 1000, sleep };
    const store = new Committed().open();
    const held: PartitionStore = {
      ...store,
      assertOwned: async () => {
        await store.assertOwned();
        if (heldUp++ === 0) now += 60_000;
      },
    };
    const events: WriterEvent[] = [];
    const options = { shards: [connect()], tables: TABLES, transforms: '1', timing, clock };
    const writer = new ExactlyOnceWriter({ ...options, onEvent: (event) => events.push(event) });
    const partition = await writer.open(held, { rebuild, signal: never });
    await partition.write({ start: 0, end: 9, blocks: blocksOf(0, 9) });
    expect(events.map((event) => event.type)).toEqual(['waiting', 'written']);
    expect(events[0]?.cause).toContain('was last confirmed');
    expect(await rowsIn('raw')).toBe(10);
  });

  it('stops when rows are duplicated, and changes nothing', async () => {
    const committed = new Committed();
    const store = committed.open();
    await store.commit(0, JSON.stringify({ v: 1, end: 9, n: { raw: 10 }, attempt: 0, transforms: '1', shard: 0 }));
    const [block] = blocksOf(0, 9).filter((b) => b.table === raw);
    if (!block) throw new Error('no rows');
    for (const token of ['a', 'b']) {
      await connect().insert(block, {
        queryId: token,
        settings: { async_insert: 0, insert_deduplication_token: token },
      });
    }
    await expect(writerOf(connect()).open(store, { rebuild, signal: never })).rejects.toThrow(
      /table raw has 20 rows at 10 positions for offsets 0 to 9 of topic\/3 .* where 10 were announced; nothing was changed/,
    );
    expect(await rowsIn('raw')).toBe(20);
  });

  it('commits a complete batch without rebuilding its rows, for any version that began it', async () => {
    const committed = new Committed();
    const blocks = blocksOf(0, 9).filter((b) => b.table === raw);
    await committed
      .open()
      .commit(0, JSON.stringify({ v: 1, end: 9, n: { raw: 10 }, attempt: 0, transforms: 'old', shard: 0 }));
    for (const block of blocks) await connect().insert(block, { queryId: 'c', settings: { async_insert: 0 } });
    const partition = await writerOf(connect()).open(committed.open(), {
      rebuild: () => Promise.reject(new Error('must not be asked')),
      signal: never,
    });
    expect(partition.nextOffset).toBe(10);
    expect(committed).toMatchObject({ offset: 10, intent: undefined });
  });

  it('stops at a batch of other transforms, names the command to run, and records the gap when accepted', async () => {
    const committed = new Committed();
    const begun = { v: 1, end: 9, n: { raw: 10 }, attempt: 0, transforms: 'old', shard: 0 };
    await committed.open().commit(0, JSON.stringify(begun));
    const opening = writerOf(connect()).open(committed.open(), { rebuild, signal: never });
    await expect(opening).rejects.toThrow(
      /offsets 0 to 9 of topic\/3 was begun and cannot be finished: it was begun with version old of the transforms, this is version 1\. .*--accept-loss/,
    );
    expect(committed.offset).toBe(0);

    const acceptLoss = async ({ end, cause }: Loss): Promise<TableBlock[]> => {
      const writer = new RowBinaryWriter();
      writer.string(LOG);
      writer.u32(3);
      writer.u64(end);
      writer.u32(0);
      writer.string(cause);
      return [{ table: lost, rows: 1, body: writer.take() }];
    };
    const partition = await writerOf(connect()).open(committed.open(), { rebuild, acceptLoss, signal: never });
    expect(partition.nextOffset).toBe(10);
    expect(
      await context.clickhouse.rows("SELECT _offset, position(cause, 'version old') > 0 AS said FROM writer.lost"),
    ).toEqual([{ _offset: 9, said: 1 }]);
    expect(await rowsIn('raw')).toBe(0);
  });

  it('stops when records become other rows than announced, or the intent is invalid', async () => {
    const open = async (intent: string) => {
      const committed = new Committed();
      await committed.open().commit(0, intent);
      return writerOf(connect()).open(committed.open(), { rebuild, signal: never });
    };
    const intent = { v: 1, end: 9, n: { raw: 11 }, attempt: 0, transforms: '1', shard: 0 };
    await expect(open(JSON.stringify(intent))).rejects.toThrow('its intent announced 11 of raw');
    await expect(open(JSON.stringify({ ...intent, shard: 2 }))).rejects.toThrow(
      'begun on ClickHouse shard 3, but 1 are configured',
    );
    await expect(open(JSON.stringify({ ...intent, n: { other: 1 } }))).rejects.toThrow(
      'which this version does not know',
    );
    await expect(open('something else')).rejects.toThrow('which is not an intent of this version of Chancery');
  });
});
