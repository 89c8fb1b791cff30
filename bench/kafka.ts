import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openKafkaBus } from '../bus/index.js';
import { createLogger, TOPICS } from '../core/index.js';
import { Broker } from '../test/kafka/broker.js';
import { temporaryFolder } from '../test/support/temporary-folder.js';
import { type Connection, EmbeddedClickHouse } from '../warehouse/index.js';
import type { BenchFigure } from './bench.js';
import { FrameSource, fillOrderBook } from './frames.js';
import { inFreshDatabase } from './fresh-database.js';
import { createEngine, type EngineTables, engineTables, startEngine, stopEngine } from './kafka-engine.js';
import { cpuSeconds, peakMemory, resetPeak } from './process-usage.js';
import { visibleRowsPerSecond } from './visible-rows.js';
import { WorkerProcess } from './worker-process.js';

export const PARTITIONS = 4;
const TIMEOUT_MS = 180_000;

interface Load {
  readonly name: string;
  readonly entries: number;
  readonly records: number;
  /** Maximum block of the engine, records: large enough for its best rate, small compared with the load. */
  readonly blockRecords: number;
  /** Prefix of its topics. */
  readonly prefix: string;
}

interface Measured {
  readonly rowsPerSecond: number;
  readonly cpuPerMillionRows: number;
  readonly memory: number;
  /** A checksum of the rows of each table, to check that engine and worker wrote the same rows. */
  readonly sums: Readonly<Record<string, string>>;
}

/** The compared columns: all except the topic ID and times that depend on the insert. */
const COMPARED = {
  price_ticks: '_partition, _offset, _index, received_at, event, market, last, bid, ask, source',
  raw_records:
    '_partition, _offset, _index, received_at, session_id, sequence, kind, encoding, piece, pieces, body_bytes',
  price_states: 'market, first_received_at, last_received_at',
} as const;

/**
 * Order book records in a Kafka topic until a query returns their rows: one worker with the exactly-once protocol, and
 * ClickHouse's own Kafka engine, one after the other, from the same topic, into the same server. The files are deleted
 * after all runs (see `inFreshDatabase`), with the folder for temporary files.
 */
export async function benchKafka(quick: boolean): Promise<BenchFigure[]> {
  const broker = await Broker.start();
  const folder = temporaryFolder();
  const server = new EmbeddedClickHouse({
    dataFolder: folder,
    database: 'chancery',
    httpPort: 0,
    memoryBytes: 8e9,
    logger: createLogger({ service: 'bench', level: 'error' }),
  });
  try {
    const loads: Load[] = [
      {
        name: 'single-entry',
        entries: 1,
        records: quick ? 60_000 : 4_500_000,
        blockRecords: 262_144,
        prefix: 'single.',
      },
      { name: '10-entry', entries: 10, records: quick ? 12_000 : 1_200_000, blockRecords: 65_536, prefix: 'ten.' },
    ];
    for (const load of loads) await fill(broker, load);
    await server.start(new AbortController().signal);
    const bench = new Comparison(broker.address, server, folder);
    const figures: BenchFigure[] = [];
    for (const load of loads) {
      for (const fsync of [true, false]) {
        figures.push(...(await bench.compare(load, fsync)));
        const measured = await bench.worker(load, { fsync, keepBodies: true });
        figures.push(...describe(`${nameOf(load, fsync)}: worker, bodies stored`, measured));
      }
    }
    return figures;
  } finally {
    await server.stop();
    await broker.kill();
  }
}

async function fill(broker: Broker, { prefix, records, entries }: Load): Promise<void> {
  const bus = openKafkaBus({ brokers: [broker.address], prefix });
  try {
    await bus.ensureTopic(TOPICS.orderBook, { partitions: PARTITIONS, retentionMs: null, retentionBytes: null });
    await fillOrderBook(bus, new FrameSource(), records, entries);
  } finally {
    await bus.close();
  }
}

const nameOf = (load: Load, fsync: boolean): string => `${load.name}, ${fsync ? 'fsync' : 'no fsync'}`;

class Comparison {
  constructor(
    private readonly broker: string,
    private readonly server: EmbeddedClickHouse,
    private readonly folder: string,
  ) {}

  async compare(load: Load, fsync: boolean): Promise<BenchFigure[]> {
    const name = nameOf(load, fsync);
    const engines: [EngineTables, Measured][] = [];
    for (const stores of ['ticks', 'all tables'] as const)
      engines.push([stores, await this.engine(load, fsync, stores)]);
    const worker = await this.worker(load, { fsync, keepBodies: false });
    for (const [stores, engine] of engines) assertSameRows(`${name}, ${stores}`, engine, worker);
    const ratio = (engine: Measured) => Math.round((worker.rowsPerSecond / engine.rowsPerSecond) * 100) / 100;
    return [
      ...engines.flatMap(([stores, engine]) => describe(`${name}: ClickHouse's Kafka engine, ${stores}`, engine)),
      ...describe(`${name}: worker, all tables, exactly once`, worker),
      ...engines.map(([stores, engine]) => ({
        name: `${name}: worker / ClickHouse's Kafka engine, ${stores}`,
        value: ratio(engine),
        unit: 'times',
      })),
    ];
  }

  /** ClickHouse's own Kafka engine. */
  engine(load: Load, fsync: boolean, stores: EngineTables): Promise<Measured> {
    return inFreshDatabase(this.server.endpoint.owner, fsync, async (connection) => {
      const topic = `${load.prefix}${TOPICS.orderBook}`;
      const { blockRecords } = load;
      const group = `engine-${randomUUID()}`;
      await createEngine(connection, { broker: this.broker, topic, group, fsync, blockRecords, stores });
      try {
        const tables = stores === 'ticks' ? ['engine_ticks'] : ['engine_ticks', 'engine_raw'];
        const measured = await this.#measure(connection, tables, load, [], () => startEngine(connection, stores));
        // Of a block, the rows of price_states follow those of price_ticks.
        await stopEngine(connection);
        return { ...measured, sums: await sumsOf(connection, engineTables(stores)) };
      } finally {
        await stopEngine(connection);
      }
    });
  }

  /** `chancery transform`, in its own process. */
  worker(load: Load, { fsync, keepBodies }: { fsync: boolean; keepBodies: boolean }): Promise<Measured> {
    return inFreshDatabase(this.server.endpoint.owner, fsync, async (connection) => {
      const worker = new WorkerProcess({
        endpoint: this.server.endpoint.owner,
        settings: {
          data: join(this.folder, connection.database),
          database: connection.database,
          kafkaBrokers: this.broker,
          kafkaPrefix: load.prefix,
          group: `worker-${randomUUID()}`,
          busPartitions: PARTITIONS,
          fsync,
          keepBodies,
          logLevel: 'warn',
        },
      });
      try {
        const start = async () => worker.start();
        const measured = await this.#measure(connection, ['price_ticks', 'raw_records'], load, [worker], start);
        await worker.stop();
        return { ...measured, sums: await sumsOf(connection, WORKER_TABLES) };
      } finally {
        await worker.stop();
      }
    });
  }

  /**
   * @param tables the table of the ticks, and that of the raw records where it is filled
   * @param helpers further processes whose CPU time and memory are included
   */
  async #measure(
    connection: Connection,
    tables: readonly string[],
    load: Load,
    helpers: readonly { readonly pid: number }[],
    start: () => Promise<unknown>,
  ): Promise<Omit<Measured, 'sums'>> {
    const rows = load.records * load.entries;
    // Earlier writes, also to the topic, must not be flushed to disk during the measurement.
    await promisify(execFile)('sync');
    const { pid } = this.server.endpoint;
    resetPeak(pid);
    const cpuBefore = cpuSeconds(pid);
    const deadline = performance.now() + TIMEOUT_MS;
    const counts = tables.map((table, index) => {
      const ticksPerRow = index === 0 ? 1 : load.entries;
      return `SELECT count() * ${ticksPerRow} AS rows FROM ${connection.database}.${table}`;
    });
    const visible = async () => {
      const [row] = await connection.query<{ rows: number }>(
        `SELECT min(rows) AS rows FROM (${counts.join(' UNION ALL ')})`,
      );
      const seen = Number(row?.rows ?? 0);
      if (seen < rows && performance.now() > deadline) {
        throw new Error(`${tables.join(' and ')} have ${seen} of ${rows} rows after ${TIMEOUT_MS / 1000} s`);
      }
      return seen;
    };
    const rowsPerSecond = await visibleRowsPerSecond(rows, start, visible);
    const pids = [pid, ...helpers.map((helper) => helper.pid)];
    const cpu = pids.reduce((sum, each) => sum + cpuSeconds(each), -cpuBefore);
    return {
      rowsPerSecond,
      cpuPerMillionRows: Math.round((cpu / rows) * 1e8) / 100,
      memory: pids.reduce((sum, each) => sum + peakMemory(each), 0),
    };
  }
}

type Tables = Partial<Record<keyof typeof COMPARED, string>>;
const WORKER_TABLES: Tables = { price_ticks: 'price_ticks', raw_records: 'raw_records', price_states: 'price_states' };

/** @param tables the name of the table that corresponds to each table of the worker */
async function sumsOf(connection: Connection, tables: Tables): Promise<Measured['sums']> {
  const sums: Record<string, string> = {};
  for (const table of Object.keys(tables) as (keyof typeof COMPARED)[]) {
    const [row] = await connection.query<{ sum: string }>(`
      SELECT concat(toString(count()), '/', toString(groupBitXor(cityHash64(${COMPARED[table]})))) AS sum
      FROM ${connection.database}.${tables[table]} ${table === 'price_states' ? 'FINAL' : ''}`);
    sums[table] = row?.sum ?? '';
  }
  return sums;
}

/** The comparison is valid only if both wrote the same rows. */
function assertSameRows(name: string, engine: Measured, worker: Measured): void {
  for (const [table, sum] of Object.entries(engine.sums)) {
    if (sum !== worker.sums[table]) throw new Error(`${name}: ${table} of the engine differs from that of the worker`);
  }
}

function describe(name: string, measured: Measured): BenchFigure[] {
  return [
    { name, value: measured.rowsPerSecond, unit: 'rows/s' },
    { name: `${name}, CPU`, value: measured.cpuPerMillionRows, unit: 's per million rows' },
    { name: `${name}, peak memory`, value: measured.memory, unit: 'MB' },
  ];
}
