import { join } from 'node:path';
import { Registry } from 'prom-client';
import { type Bus, type EmbeddedBus, openEmbeddedBus } from '../../bus/index.js';
import { workerOptions } from '../../cli/service/service-options.js';
import { createLogger, type Logger, loadConfig, type Settings, TOPICS } from '../../core/index.js';
import { TransformWorker } from '../../transforms/index.js';
import { type ClickHouseEndpoint, Connection } from '../../warehouse/index.js';
import { processed } from '../support/processed.js';
import { runAs } from '../support/run-as.js';
import { removeFolder, temporaryFolder } from '../support/temporary-folder.js';

const TOPIC_OPTIONS = { partitions: 2, retentionMs: null, retentionBytes: null };

/** A bus of its own (the embedded log, or the one given), a database of its own on a running ClickHouse, and workers between them. */
export class WorkerRig {
  readonly folder = temporaryFolder();
  readonly bus: Bus;
  readonly #embedded: EmbeddedBus | undefined;
  readonly connection: Connection;
  readonly #workers: TransformWorker[] = [];

  constructor(
    private readonly endpoint: ClickHouseEndpoint,
    readonly database: string,
    bus?: Bus,
  ) {
    if (!bus) this.#embedded = openEmbeddedBus({ dir: join(this.folder, 'bus'), retentionEveryMs: 0 });
    this.bus = bus ?? (this.#embedded as EmbeddedBus);
    this.connection = new Connection({ endpoint, database, application: 'test' });
  }

  /** Creates the topics, and empties the tables of the migrated database. */
  async prepare(): Promise<void> {
    for (const topic of Object.values(TOPICS)) await this.bus.ensureTopic(topic, TOPIC_OPTIONS);
    const tables = await this.rows<{ name: string }>(
      `SELECT DISTINCT table AS name FROM system.parts WHERE database = '${this.database}' AND table != 'applied_sql'`,
    );
    for (const { name } of tables) await runAs(this.endpoint, `TRUNCATE TABLE ${this.database}.${name}`);
  }

  settings(overrides: Partial<Settings> = {}): Settings {
    const settings = loadConfig({ data: this.folder, database: this.database }, {}, this.folder);
    return { ...settings, batchDelayMs: 20, ...overrides };
  }

  /** Starts a worker; ended with the rig. */
  async worker(
    overrides: Partial<Settings> = {},
    metrics = new Registry(),
    log: Logger = createLogger({ service: 'transform', level: 'fatal' }),
  ): Promise<TransformWorker> {
    const worker = new TransformWorker({
      ...workerOptions(this.settings(overrides)),
      bus: this.bus,
      shards: [this.connection],
      log,
      metrics,
    });
    this.#workers.push(worker);
    await worker.start(new AbortController().signal);
    return worker;
  }

  /** Appends values, all with one key. */
  async append(topic: string, values: readonly Buffer[], key = 'k'): Promise<void> {
    await this.bus.append(
      topic,
      values.map((value) => ({ key, value })),
    );
  }

  /** Commits an offset, and an intent, for the partition that has the topic's records, as a worker would have. */
  async commit(topic: string, offset: number, intent?: object, checkpoint?: string): Promise<void> {
    const stop = new AbortController();
    const holds = (await this.bus.partitions()).find((p) => p.topic === topic && p.end > 0)?.partition;
    await this.bus.consume(
      { topics: [topic], group: this.settings().group },
      {
        onAssigned: async (partition) => {
          if (partition.partition === holds) {
            await partition.commit(offset, intent && JSON.stringify(intent), checkpoint);
            stop.abort();
          }
          return (await partition.committed()).offset;
        },
        onBatch: async () => undefined,
        onRevoked: async () => undefined,
      },
      stop.signal,
    );
  }

  /** Resolves when everything on the bus was processed by the group. */
  async drained(group = this.settings().group): Promise<void> {
    await processed(this.bus, group);
  }

  /** Deletes all records of a topic, as retention would. */
  async expire(topic: string): Promise<void> {
    await this.bus.ensureTopic(topic, { ...TOPIC_OPTIONS, retentionBytes: 0 });
    await this.#embedded?.sweep();
    await this.bus.ensureTopic(topic, TOPIC_OPTIONS);
  }

  /** Rows of a SELECT whose tables are those of the rig's database. */
  async rows<T = Record<string, unknown>>(sql: string): Promise<T[]> {
    const login = { ...this.endpoint, url: `${this.endpoint.url}/?database=${this.database}` };
    const text = await runAs(login, `${sql} SETTINGS output_format_json_quote_64bit_integers=0 FORMAT JSONEachRow`);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T);
  }

  async close(): Promise<void> {
    for (const worker of this.#workers) await worker.stop();
    await this.bus.close();
    await this.connection.close();
    removeFolder(this.folder);
  }
}
