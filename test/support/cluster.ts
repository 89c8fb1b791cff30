import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../../core/index.js';
import { type Cluster, openCluster } from '../../warehouse/index.js';
import { startClickHouse, type TestClickHouse } from './clickhouse.js';
import { freePorts } from './free-ports.js';
import { temporaryFolder } from './temporary-folder.js';

export interface TestCluster {
  /** By shard and replica. */
  readonly servers: readonly TestClickHouse[];
  /** As the configuration names the nodes: `;` between shards, `,` between replicas. */
  readonly nodes: string;
  /** Opens the cluster of the first `shards` servers; the test closes it. */
  open(shards?: number): Cluster;
  stop(): Promise<void>;
}

export interface TestClusterOptions {
  readonly shards: number;
  /** Servers of each shard; default 1. */
  readonly replicas?: number;
  /** Loopback port of the coordination service, which replicas need. */
  readonly keeperPort?: number;
  readonly database?: string;
}

/**
 * Embedded servers as the shards of a cluster, with one owner and one reader for all of them. In their configuration,
 * `chancery` is the cluster of all, `chancery_N` that of the first N.
 */
export async function startCluster(options: TestClusterOptions): Promise<TestCluster> {
  const { database = 'chancery', replicas = 1, keeperPort } = options;
  const ports = await freePorts(options.shards * replicas);
  const shardsOf = <T>(servers: readonly T[]): T[][] =>
    Array.from({ length: options.shards }, (_, i) => servers.slice(i * replicas, (i + 1) * replicas));
  const passwords = { owner: randomBytes(24).toString('base64url'), reader: randomBytes(24).toString('base64url') };
  const clusters = Object.fromEntries(
    shardsOf(ports).map((_, i) => [clusterName(i + 1, options.shards), shardsOf(ports).slice(0, i + 1)]),
  );
  const keeper = keeperPort === undefined ? {} : { keeperPort };
  const cluster = { clusters, secret: new Secret('of the nodes'), ...keeper };
  const servers: TestClickHouse[] = [];
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    for (const tcpPort of ports) {
      const dataFolder = temporaryFolder();
      mkdirSync(join(dataFolder, 'clickhouse'), { mode: 0o700 });
      writeFileSync(join(dataFolder, 'clickhouse', 'credentials.json'), JSON.stringify(passwords), { mode: 0o600 });
      servers.push(await startClickHouse({ dataFolder, tcpPort, cluster, database, memoryBytes: 2e9 }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const urls = shardsOf(servers.map((server) => server.endpoint.url));
  return {
    servers,
    nodes: urls.map((shard) => shard.join(',')).join(';'),
    open: (shards = options.shards) =>
      openCluster({
        name: clusterName(shards, options.shards),
        nodes: urls.slice(0, shards),
        login: { user: 'owner', password: new Secret(passwords.owner) },
        database,
        application: 'test',
      }),
    stop,
  };
}

const clusterName = (shards: number, all: number): string => (shards === all ? 'chancery' : `chancery_${shards}`);
