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
import { createEngine, dropEngine, startEngine } from './kafka-engine.js';
import { cpuSeconds, forgetPeak, peakMemory } from './process-usage.js';
import { WorkerProcess } from './worker-process.js';

export const PARTITIONS = 4;
const LOOK_MS = 10;
/** Rows that must be visible before the clock starts: joining a group and starting a process are not measured. */
const BEGIN_SHARE = 0.1;
const GIVE_UP_MS = 180_000;

interface Load {
  readonly name: string;
  readonly entries: number;
  readonly records: number;
  /** Prefix of its topics. */
  readonly prefix: string;
}

interface Measured {
  readonly rowsPerSecond: number;
  readonly cpuPerMillionRows: number;
  readonly memory: number;
}

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
      { name: 'single-entry', entries: 1, records: quick ? 60_000 : 1_500_000, prefix: 'single.' },
      { name: '10-entry', entries: 10, records: quick ? 12_000 : 300_000, prefix: 'ten.' },
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
    const engine = await this.engine(load, fsync);
    const worker = await this.worker(load, { fsync, keepBodies: false });
    const ratio = Math.round((worker.rowsPerSecond / engine.rowsPerSecond) * 100) / 100;
    return [
      ...describe(`${name}: ClickHouse's Kafka engine`, engine),
      ...describe(`${name}: worker, exactly once`, worker),
      { name: `${name}: worker beside the engine`, value: ratio, unit: 'times' },
    ];
  }

  /** ClickHouse reads the topic by itself. */
  engine(load: Load, fsync: boolean): Promise<Measured> {
    return this.#inDatabase(fsync, async (connection) => {
      const topic = `${load.prefix}${TOPICS.orderBook}`;
      await createEngine(connection, { broker: this.broker, topic, group: `engine-${randomUUID()}`, fsync });
      try {
        return await this.#measure(connection, 'engine_ticks', load, [], () => startEngine(connection));
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
        return measured;
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
  ): Promise<Measured> {
    const rows = load.records * load.entries;
    const { pid } = this.server.endpoint;
    forgetPeak(pid);
    const cpuBefore = cpuSeconds(pid);
    const started = { rows: 0, at: performance.now() };
    await start();
    const first = await this.#until(connection, table, rows * BEGIN_SHARE);
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

  /** When a query first saw so many rows, milliseconds, and how many it saw. */
  async #until(connection: Connection, table: string, wanted: number): Promise<{ rows: number; at: number }> {
    const deadline = performance.now() + GIVE_UP_MS;
    for (;;) {
      const [row] = await connection.query<{ rows: number }>(
        `SELECT count() AS rows FROM ${connection.database}.${table}`,
      );
      const at = performance.now();
      const rows = row?.rows ?? 0;
      if (rows >= wanted) return { rows, at };
      if (at > deadline) throw new Error(`${table} has ${rows} of ${wanted} rows after ${GIVE_UP_MS / 1000} s`);
      await sleep(LOOK_MS);
    }
  }
}

function describe(name: string, measured: Measured): BenchFigure[] {
  return [
    { name, value: measured.rowsPerSecond, unit: 'rows/s' },
    { name: `${name}, CPU`, value: measured.cpuPerMillionRows, unit: 's per million rows' },
    { name: `${name}, largest memory`, value: measured.memory, unit: 'MB' },
  ];
}
