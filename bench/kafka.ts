import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openKafkaBus } from '../bus/index.js';
import { createLogger, TOPICS } from '../core/index.js';
import { Broker } from '../test/kafka/broker.js';
import { Connection, EmbeddedClickHouse, migrate } from '../warehouse/index.js';
import type { BenchFigure } from './bench.js';
import { FrameSource, fillOrderBook } from './frames.js';
import { createEngine, dropEngine, type EngineKeeps, engineTables, startEngine } from './kafka-engine.js';
import { cpuSeconds, forgetPeak, peakMemory } from './process-usage.js';
import { WorkerProcess } from './worker-process.js';

export const PARTITIONS = 4;
const LOOK_MS = 10;
/**
 * Rows that must be visible before the clock starts, some of every partition among them: joining a group and starting a
 * process are not measured, and what reads in large blocks is not credited with a whole block that it began before.
 */
const BEGIN_SHARE = 0.1;
const GIVE_UP_MS = 180_000;

interface Load {
  readonly name: string;
  readonly entries: number;
  readonly records: number;
  /** What the engine takes at a time: as much as helps it, and little beside the whole. */
  readonly blockRecords: number;
  /** Prefix of its topics. */
  readonly prefix: string;
}

interface Measured {
  readonly rowsPerSecond: number;
  readonly cpuPerMillionRows: number;
  readonly memory: number;
  /** Sums of the rows, table by table, by which two that made the same rows are recognised. */
  readonly sums: Readonly<Record<string, string>>;
}

/** What is compared of a row: all but the log's identity and the times that depend on when it was written. */
const COMPARED = {
  price_ticks: '_partition, _offset, _index, received_at, event, market, last, bid, ask, source',
  raw_records: '_partition, _offset, _index, received_at, sid, n, kind, encoding, piece, pieces, body_bytes',
  price_states: 'market, first_received_at, last_received_at',
} as const;

/**
 * Order book records in a Kafka topic until their rows are in the answer of a query: one worker with the whole protocol
 * beside ClickHouse's own Kafka engine, one after the other, from the same topic, into the same server.
 */
export async function benchKafka(quick: boolean): Promise<BenchFigure[]> {
  const broker = await Broker.start();
  const folder = mkdtempSync(join(tmpdir(), 'chancery-bench-kafka-'));
  const server = new EmbeddedClickHouse({
    dataFolder: folder,
    database: 'chancery',
    httpPort: 0,
    memoryBytes: 8e9,
    logger: createLogger({ part: 'bench', level: 'error' }),
  });
  try {
    const loads: Load[] = [
      {
        name: 'single-entry',
        entries: 1,
        records: quick ? 60_000 : 1_500_000,
        blockRecords: 262_144,
        prefix: 'single.',
      },
      { name: '10-entry', entries: 10, records: quick ? 12_000 : 500_000, blockRecords: 65_536, prefix: 'ten.' },
    ];
    for (const load of loads) await fill(broker, load);
    await server.start(new AbortController().signal);
    const bench = new Comparison(broker.address, server, folder);
    const figures: BenchFigure[] = [];
    for (const load of loads) {
      for (const fsync of [true, false]) figures.push(...(await bench.compare(load, fsync)));
      const { rowsPerSecond } = await bench.worker(load, { fsync: true, keepBodies: true });
      figures.push({ name: `${load.name}, fsync, bodies kept: worker`, value: rowsPerSecond, unit: 'rows/s' });
    }
    return figures;
  } finally {
    await server.stop();
    await broker.remove();
    rmSync(folder, { recursive: true, force: true });
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

class Comparison {
  constructor(
    private readonly broker: string,
    private readonly server: EmbeddedClickHouse,
    private readonly folder: string,
  ) {}

  async compare(load: Load, fsync: boolean): Promise<BenchFigure[]> {
    const name = `${load.name}, ${fsync ? 'fsync' : 'no fsync'}`;
    const engines: [EngineKeeps, Measured][] = [];
    for (const keeps of ['ticks', 'all tables'] as const) engines.push([keeps, await this.engine(load, fsync, keeps)]);
    const worker = await this.worker(load, { fsync, keepBodies: false });
    for (const [keeps, engine] of engines) assertSameRows(`${name}, ${keeps}`, engine, worker);
    const beside = (engine: Measured) => Math.round((worker.rowsPerSecond / engine.rowsPerSecond) * 100) / 100;
    return [
      ...engines.flatMap(([keeps, engine]) => describe(`${name}: ClickHouse's Kafka engine, ${keeps}`, engine)),
      ...describe(`${name}: worker, all tables, exactly once`, worker),
      ...engines.map(([keeps, engine]) => ({
        name: `${name}: worker beside the engine with ${keeps}`,
        value: beside(engine),
        unit: 'times',
      })),
    ];
  }

  /** ClickHouse reads the topic by itself. */
  engine(load: Load, fsync: boolean, keeps: EngineKeeps): Promise<Measured> {
    return this.#inDatabase(fsync, async (connection) => {
      const topic = `${load.prefix}${TOPICS.orderBook}`;
      const { blockRecords } = load;
      const group = `engine-${randomUUID()}`;
      await createEngine(connection, { broker: this.broker, topic, group, fsync, blockRecords, keeps });
      try {
        const measured = await this.#measure(connection, 'engine_ticks', load, [], () => startEngine(connection));
        if (keeps === 'all tables') await this.#until(connection, 'engine_raw', load.records);
        return { ...measured, sums: await sumsOf(connection, engineTables(keeps)) };
      } finally {
        await dropEngine(connection);
      }
    });
  }

  /** `chancery transform`, a process of its own. */
  worker(load: Load, { fsync, keepBodies }: { fsync: boolean; keepBodies: boolean }): Promise<Measured> {
    return this.#inDatabase(fsync, async (connection) => {
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
        const measured = await this.#measure(connection, 'price_ticks', load, [worker], start);
        await this.#until(connection, 'raw_records', load.records);
        return { ...measured, sums: await sumsOf(connection, WORKER_TABLES) };
      } finally {
        await worker.stop();
      }
    });
  }

  /** Runs it on a fresh database. */
  async #inDatabase<T>(fsync: boolean, run: (connection: Connection) => Promise<T>): Promise<T> {
    const database = `bench_${randomUUID().replaceAll('-', '')}`;
    const endpoint = this.server.endpoint.owner;
    const connection = new Connection({ endpoint, database, application: 'chancery bench' });
    try {
      await connection.command(`CREATE DATABASE ${database}`);
      await migrate(connection, { fsync }, new AbortController().signal);
      return await run(connection);
    } finally {
      await connection.command(`DROP DATABASE IF EXISTS ${database} SYNC`);
      await connection.close();
    }
  }

  /** @param helpers processes beside ClickHouse that take part */
  async #measure(
    connection: Connection,
    table: string,
    load: Load,
    helpers: readonly { readonly pid: number }[],
    start: () => Promise<unknown>,
  ): Promise<Omit<Measured, 'sums'>> {
    const rows = load.records * load.entries;
    const { pid } = this.server.endpoint;
    forgetPeak(pid);
    const cpuBefore = cpuSeconds(pid);
    const started = { rows: 0, at: performance.now() };
    await start();
    const first = await this.#until(connection, table, rows * BEGIN_SHARE, PARTITIONS);
    const end = first.rows < rows ? await this.#until(connection, table, rows) : first;
    // A quick run may be over at the first look.
    const begin = first.rows < end.rows ? first : started;
    const pids = [pid, ...helpers.map((helper) => helper.pid)];
    const cpu = pids.reduce((sum, each) => sum + cpuSeconds(each), -cpuBefore);
    return {
      rowsPerSecond: Math.round(((end.rows - begin.rows) * 1000) / (end.at - begin.at)),
      cpuPerMillionRows: Math.round((cpu / rows) * 1e8) / 100,
      memory: pids.reduce((sum, each) => sum + peakMemory(each), 0),
    };
  }

  /** When a query first saw so many rows, of so many partitions, milliseconds, and how many it saw. */
  async #until(
    connection: Connection,
    table: string,
    wanted: number,
    ofPartitions = 0,
  ): Promise<{ rows: number; at: number }> {
    const deadline = performance.now() + GIVE_UP_MS;
    const partitions = ofPartitions > 0 ? 'uniqExact(_partition)' : '0';
    for (;;) {
      const [row] = await connection.query<{ rows: number; partitions: number }>(
        `SELECT count() AS rows, ${partitions} AS partitions FROM ${connection.database}.${table}`,
      );
      const at = performance.now();
      const rows = row?.rows ?? 0;
      if (rows >= wanted && (row?.partitions ?? 0) >= ofPartitions) return { rows, at };
      if (at > deadline) throw new Error(`${table} has ${rows} of ${wanted} rows after ${GIVE_UP_MS / 1000} s`);
      await sleep(LOOK_MS);
    }
  }
}

type Tables = Partial<Record<keyof typeof COMPARED, string>>;
const WORKER_TABLES: Tables = { price_ticks: 'price_ticks', raw_records: 'raw_records', price_states: 'price_states' };

/** @param tables what each table of the worker is called */
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

/** A race between two that do not do the same says nothing. */
function assertSameRows(name: string, engine: Measured, worker: Measured): void {
  for (const [table, sum] of Object.entries(engine.sums)) {
    if (sum !== worker.sums[table]) throw new Error(`${name}: ${table} of the engine is not that of the worker`);
  }
}

function describe(name: string, measured: Measured): BenchFigure[] {
  return [
    { name, value: measured.rowsPerSecond, unit: 'rows/s' },
    { name: `${name}, CPU`, value: measured.cpuPerMillionRows, unit: 's per million rows' },
    { name: `${name}, largest memory`, value: measured.memory, unit: 'MB' },
  ];
}
