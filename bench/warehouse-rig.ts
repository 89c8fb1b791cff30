import { join } from 'node:path';
import { Registry } from 'prom-client';
import { type EmbeddedBus, openEmbeddedBus } from '../bus/index.js';
import { workerOptions } from '../cli/service/service-options.js';
import { createLogger, loadConfig, type Settings, TOPICS } from '../core/index.js';
import { removeFolder, temporaryFolder } from '../test/support/temporary-folder.js';
import { TransformWorker } from '../transforms/index.js';
import { Connection, EmbeddedClickHouse, type EmbeddedEndpoint, migrate } from '../warehouse/index.js';

/** An embedded log, an embedded ClickHouse and workers, in a folder that `close` deletes. */
export class WarehouseRig {
  readonly log = createLogger({ service: 'bench', level: 'error' });
  readonly #folder = temporaryFolder();
  readonly #server: EmbeddedClickHouse;
  readonly settings: Settings;
  #connection: Connection | undefined;

  constructor(overrides: Partial<Settings> = {}) {
    this.settings = { ...loadConfig({ data: this.#folder }, {}, this.#folder), ...overrides };
    this.#server = new EmbeddedClickHouse({
      dataFolder: this.#folder,
      database: this.settings.database,
      httpPort: 0,
      memoryBytes: this.settings.clickhouseMemory,
      unconfined: this.settings.clickhouseUnconfined,
      logger: this.log,
    });
  }

  get connection(): Connection {
    if (!this.#connection) throw new Error('the rig was not started');
    return this.#connection;
  }

  /** Once started. */
  get endpoint(): EmbeddedEndpoint {
    return this.#server.endpoint;
  }

  async start(): Promise<void> {
    const signal = new AbortController().signal;
    await this.#server.start(signal);
    const { database } = this.settings;
    const endpoint = this.#server.endpoint.owner;
    this.#connection = new Connection({ endpoint, database, application: 'chancery bench' });
    await this.connection.command(`CREATE DATABASE IF NOT EXISTS ${database}`);
    await migrate(this.connection, { fsync: this.settings.fsync }, signal);
  }

  /** A new, empty log with the topics of raw records; the caller closes it. */
  async openBus(name: string): Promise<EmbeddedBus> {
    const bus = openEmbeddedBus({ dir: join(this.#folder, `bus-${name}`), retentionEveryMs: 0 });
    const { busPartitions: partitions } = this.settings;
    for (const topic of Object.values(TOPICS)) {
      await bus.ensureTopic(topic, { partitions, retentionMs: null, retentionBytes: null });
    }
    return bus;
  }

  worker(bus: EmbeddedBus, overrides: Partial<Settings> = {}): TransformWorker {
    const config = workerOptions({ ...this.settings, ...overrides });
    return new TransformWorker({ ...config, bus, shards: [this.connection], log: this.log, metrics: new Registry() });
  }

  /** Number of visible rows of a table. */
  async count(table: string): Promise<number> {
    const [row] = await this.connection.query<{ rows: number }>(
      `SELECT count() AS rows FROM ${this.settings.database}.${table}`,
    );
    return row?.rows ?? 0;
  }

  async close(): Promise<void> {
    await this.#connection?.close();
    await this.#server.stop();
    removeFolder(this.#folder);
  }
}
