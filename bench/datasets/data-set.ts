import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbeddedBus } from '../../bus/index.js';
import { claimLayout } from '../../cli/service/instance.js';
import { createLogger, packageRoot, TOPICS } from '../../core/index.js';
import { Connection, EmbeddedClickHouse, migrate } from '../../warehouse/index.js';
import { waitForMerges } from '../queries/data-set.js';
import { LAST_DAY, PARTITIONS, type Rows, rowsQuery } from './rows.js';

const DATABASE = 'chancery';
const MEMORY_BYTES = 8 * 2 ** 30;
const DAY_MS = 86_400_000;
/** Days of ticks without raw records, before the last day. */
const TICK_DAYS = 4;
/** Ticks per tick of the last day, which has the raw record of each. */
const TICKS_PER_FRAME = 25;

/** An instance of order book ticks of five finished days; of the last one, it has the raw records, too. */
export interface DataSet {
  /** Data folder. */
  readonly folder: string;
  readonly ticks: number;
  readonly frames: number;
}

/**
 * The instance in `.cache/`, which is built when there is none for these migrations and this size. Its rows are functions of
 * a seed. No process runs on it.
 */
export async function buildDataSet(ticks: number, report: (line: string) => void): Promise<DataSet> {
  const frames = ticks / TICKS_PER_FRAME;
  const folder = join(packageRoot(), '.cache', `datasets-${ticks}-${inputsHash()}`);
  const done = join(folder, 'built.json');
  if (existsSync(done)) return { folder, ticks, frames };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  claimLayout(folder);
  const log = await fillBus(join(folder, 'bus'), Math.ceil(ticks / PARTITIONS));
  const logger = createLogger({ service: 'bench', level: 'error' });
  const server = new EmbeddedClickHouse({
    ...{ dataFolder: folder, database: DATABASE, httpPort: 0, memoryBytes: MEMORY_BYTES, logger },
  });
  const { signal } = new AbortController();
  await server.start(signal);
  const endpoint = server.endpoint.owner;
  const options = { endpoint, database: DATABASE, application: 'chancery bench', timeoutMs: 3_600_000 };
  const connection = new Connection(options);
  try {
    await connection.command(`CREATE DATABASE IF NOT EXISTS ${DATABASE}`);
    await migrate(connection, { fsync: false }, signal);
    const perDay = (ticks - frames) / TICK_DAYS;
    for (let day = 0; day <= TICK_DAYS; day++) {
      const begin = Date.parse(LAST_DAY) - (TICK_DAYS - day) * DAY_MS;
      const rows = { log, begin, first: day * perDay, count: day < TICK_DAYS ? perDay : frames };
      await insert(connection, 'price_ticks', rows);
      if (day === TICK_DAYS) await insert(connection, 'raw_records', rows);
      report(`  built ${new Date(begin).toISOString().slice(0, 10)}`);
    }
    await waitForMerges(connection);
  } finally {
    await connection.close();
    await server.stop();
  }
  writeFileSync(done, '{}\n');
  return { folder, ticks, frames };
}

function insert(connection: Connection, table: 'price_ticks' | 'raw_records', rows: Rows): Promise<unknown> {
  const { columns, select } = rowsQuery(table, rows);
  const settings = { max_insert_threads: '1', min_insert_block_size_rows: '1000000' };
  return connection.command(`INSERT INTO ${DATABASE}.${table} (${columns.join(', ')}) ${select}`, { settings });
}

/**
 * Makes the topics of an instance whose workers have processed all records up to an offset of the order book topic.
 * @returns the log of that topic
 */
async function fillBus(dir: string, end: number): Promise<string> {
  const bus = openEmbeddedBus({ dir });
  const done = new AbortController();
  for (const topic of Object.values(TOPICS)) {
    await bus.ensureTopic(topic, { partitions: PARTITIONS, retentionMs: null, retentionBytes: null });
  }
  let committed = 0;
  const handler = {
    onAssigned: async (partition: { commit(offset: number): Promise<void> }) => {
      await partition.commit(end);
      committed += 1;
      if (committed === PARTITIONS) done.abort();
      return 0;
    },
    onBatch: async () => {},
    onRevoked: async () => {},
  };
  await bus.consume({ topics: [TOPICS.orderBook], group: 'chancery-transform' }, handler, done.signal);
  const [partition] = (await bus.partitions()).filter(({ topic }) => topic === TOPICS.orderBook);
  await bus.close();
  return partition?.log ?? '';
}

/** A hash of what decides the rows and their layout: the migrations and the inserts. */
function inputsHash(): string {
  const hash = createHash('sha256');
  const migrations = join(packageRoot(), 'sql/migrations');
  for (const name of readdirSync(migrations).toSorted()) hash.update(readFileSync(join(migrations, name)));
  const rows = { log: '', begin: 0, first: 0, count: 0 };
  hash.update(JSON.stringify([rowsQuery('price_ticks', rows), rowsQuery('raw_records', rows)]));
  return hash.digest('hex').slice(0, 12);
}
