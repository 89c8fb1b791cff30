import { join } from 'node:path';
import { Registry } from 'prom-client';
import { type EmbeddedBus, openEmbeddedBus } from '../../../bus/index.js';
import { workerOptions } from '../../../cli/service/service-options.js';
import { createLogger, type Logger, loadConfig, TOPICS } from '../../../core/index.js';
import { TRANSFORM_TABLES, TransformWorker } from '../../../transforms/index.js';
import { type Cluster, migrateCluster, type ShardConnection } from '../../../warehouse/index.js';
import { startCluster, type TestCluster } from '../../support/cluster.js';
import { processed } from '../../support/processed.js';
import { removeFolder, temporaryFolder } from '../../support/temporary-folder.js';

const PARTITIONS = 4;
const never = new AbortController().signal;

/** A bus, the servers of a cluster, and workers between them; several groups may write the same records elsewhere. */
export class ClusterRig {
  readonly folder = temporaryFolder();
  readonly bus: EmbeddedBus;
  readonly #workers: TransformWorker[] = [];
  readonly #clusters: Cluster[] = [];

  private constructor(readonly servers: TestCluster) {
    this.bus = openEmbeddedBus({ dir: join(this.folder, 'bus'), retentionEveryMs: 0 });
  }

  static async start(shards: number): Promise<ClusterRig> {
    const rig = new ClusterRig(await startCluster({ shards }));
    for (const topic of Object.values(TOPICS)) {
      await rig.bus.ensureTopic(topic, { partitions: PARTITIONS, retentionMs: null, retentionBytes: null });
    }
    return rig;
  }

  /** The cluster of the first `shards` servers, migrated. */
  async cluster(shards?: number): Promise<Cluster> {
    const cluster = this.servers.open(shards);
    this.#clusters.push(cluster);
    await migrateCluster(cluster, { fsync: false, tables: TRANSFORM_TABLES }, never);
    return cluster;
  }

  /** Starts a worker; stopped with the rig. */
  async worker(
    shards: readonly ShardConnection[],
    options: { group?: string; log?: Logger; batchRows?: number; rebuild?: boolean } = {},
  ): Promise<TransformWorker> {
    const { log = createLogger({ service: 'transform', level: 'fatal' }), ...more } = options;
    const settings = { ...loadConfig({ data: this.folder }, {}, this.folder), batchDelayMs: 20, ...more };
    const worker = new TransformWorker({
      ...workerOptions(settings),
      bus: this.bus,
      shards,
      log,
      metrics: new Registry(),
    });
    this.#workers.push(worker);
    await worker.start(never);
    return worker;
  }

  /** Resolves when the group has processed everything that is on the bus, of the given partitions. */
  async drained(group = 'chancery-transform', counts?: (topic: string, partition: number) => boolean): Promise<void> {
    await processed(this.bus, group, counts);
  }

  /** Commits for a partition as a worker that was killed during a batch. */
  async commit(topic: string, partition: number, offset: number, intent: object): Promise<void> {
    const stop = new AbortController();
    await this.bus.consume(
      { topics: [topic], group: 'chancery-transform' },
      {
        onAssigned: async (assigned) => {
          if (assigned.partition === partition) {
            await assigned.commit(offset, JSON.stringify(intent));
            stop.abort();
          }
          return (await assigned.committed()).offset;
        },
        onBatch: async () => undefined,
        onRevoked: async () => undefined,
      },
      stop.signal,
    );
  }

  async stopWorkers(): Promise<void> {
    for (const worker of this.#workers.splice(0)) await worker.stop();
  }

  async close(): Promise<void> {
    await this.stopWorkers();
    for (const cluster of this.#clusters) await cluster.close();
    await this.bus.close();
    await this.servers.stop();
    removeFolder(this.folder);
  }
}
