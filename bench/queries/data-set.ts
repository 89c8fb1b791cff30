import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger, packageRoot } from '../../core/index.js';
import { rollUpNextBlocks, rollUpNextDay, rollUpNextTrades } from '../../transforms/index.js';
import {
  type ClickHouseEndpoint,
  Connection,
  EmbeddedClickHouse,
  migrate,
  readRollup,
  sqlFolder,
} from '../../warehouse/index.js';
import { INSERTS, type Insert } from './inserts.js';
import { DAYS, type DataSetSize, LOG, PARTITIONS, SEED } from './size.js';

const DATABASE = 'chancery';
const MEMORY_BYTES = 8 * 2 ** 30;
const MERGE_POLL_MS = 500;
/** Rows of one part of an insert; of a large day more, so that there are not too many parts. */
const MIN_BLOCK_ROWS = 1_000_000;
const MAX_BLOCKS = 8;
/** The statements that compute what the views read instead of rows. */
const ROLLUPS = ['price_hours', 'price_days', 'volume_days', 'position_states', 'own_volumes'];

/** A server with the data set. */
interface OpenDataSet {
  /** The end of its 30 days. */
  readonly endsAt: Date;
  /** Calls `ask` with the login of the user reader, and stops the server. */
  asking<T>(ask: (reader: ClickHouseEndpoint) => Promise<T>): Promise<T>;
}

/**
 * Starts ClickHouse on the data set in `.cache/`, which is built when there is none for these migrations and this size.
 * Its rows are functions of the seed; its 30 days end when it is built.
 */
export async function openDataSet(size: DataSetSize, report: (line: string) => void): Promise<OpenDataSet> {
  const folder = join(packageRoot(), '.cache', `queries-${size.ticks}-${inputsHash(size)}`);
  const done = join(folder, 'built.json');
  if (!existsSync(done)) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const server = new EmbeddedClickHouse({
    dataFolder: folder,
    database: DATABASE,
    httpPort: 0,
    memoryBytes: MEMORY_BYTES,
    logger: createLogger({ service: 'bench', level: 'error' }),
  });
  await server.start(new AbortController().signal);
  try {
    const { owner, reader } = server.endpoint;
    const connection = new Connection({
      endpoint: owner,
      database: DATABASE,
      application: 'chancery bench',
      timeoutMs: 3_600_000,
    });
    try {
      await connection.command(`CREATE DATABASE IF NOT EXISTS ${DATABASE}`);
      await migrate(connection, { fsync: false }, new AbortController().signal);
      if (!existsSync(done)) {
        const endsAt = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
        for (const insert of INSERTS) await runInsert(connection, insert, { size, endsAt }, report);
        await rollUp(connection, size, report);
        await waitForMerges(connection);
        writeFileSync(done, `${JSON.stringify({ seed: SEED, endsAt: endsAt.toISOString() })}\n`);
      }
    } finally {
      await connection.close();
    }
    const { endsAt } = JSON.parse(readFileSync(done, 'utf8')) as { endsAt: string };
    return {
      endsAt: new Date(endsAt),
      asking: async (ask) => {
        try {
          return await ask(reader);
        } finally {
          await server.stop();
        }
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function runInsert(
  connection: Connection,
  insert: Insert,
  { size, endsAt }: { size: DataSetSize; endsAt: Date },
  report: (line: string) => void,
): Promise<void> {
  const started = performance.now();
  const rows = insert.rowsPerDay(size);
  for (let day = 0; day < DAYS; day++) {
    const params = {
      first: day * rows,
      rows,
      seed: SEED,
      begin: endsAt.getTime() / 1000 - DAYS * 86_400,
    };
    await connection.command(
      `INSERT INTO ${DATABASE}.${insert.table} (${insert.columns.join(', ')}) ${insert.select}`,
      {
        params,
        settings: {
          max_insert_threads: '1',
          min_insert_block_size_rows: String(Math.max(MIN_BLOCK_ROWS, Math.floor(rows / MAX_BLOCKS))),
          // Rows of a table may be in two months.
          max_partitions_per_insert_block: 100,
        },
      },
    );
  }
  const seconds = (performance.now() - started) / 1000;
  report(`  ${insert.table}: ${(rows * DAYS).toLocaleString('en-US')} rows in ${seconds.toFixed(1)} s`);
}

/** What the worker does from time to time; the last block of every partition is left, as in an instance that records. */
async function rollUp(connection: Connection, size: DataSetSize, report: (line: string) => void): Promise<void> {
  const started = performance.now();
  const signal = new AbortController().signal;
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const source = { log: LOG, partition, shards: [connection] };
    while (await rollUpNextBlocks(source, { committed: Math.floor(size.ticks / PARTITIONS) }, signal));
  }
  const accounts = { log: LOG, partition: 0, shards: [connection] };
  while (await rollUpNextDay(accounts, { committed: size.activity }, signal));
  while (await rollUpNextTrades(accounts, { committed: size.trades }, signal));
  report(`  rollups: ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** Until no merge has run for two seconds. */
export async function waitForMerges(connection: Connection): Promise<void> {
  const running = `SELECT count() AS merges FROM system.merges WHERE database = '${DATABASE}'`;
  for (let quiet = 0; quiet < 4; ) {
    const [row] = await connection.query<{ merges: number }>(running);
    quiet = row?.merges === 0 ? quiet + 1 : 0;
    await sleep(MERGE_POLL_MS);
  }
}

/** A hash of what decides the rows and their layout: the size, the migrations and the inserts. */
function inputsHash(size: DataSetSize): string {
  const hash = createHash('sha256').update(JSON.stringify(size));
  const migrations = join(packageRoot(), 'sql/migrations');
  for (const name of readdirSync(migrations).toSorted()) hash.update(readFileSync(join(migrations, name)));
  for (const name of ROLLUPS) hash.update(readRollup(sqlFolder(), name, DATABASE));
  hash.update(JSON.stringify(INSERTS.map(({ table, columns, select }) => [table, columns, select])));
  return hash.digest('hex').slice(0, 12);
}
