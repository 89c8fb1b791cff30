import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '../../core/index.js';
import { freePort } from '../../warehouse/embedded/ports.js';
import { type Cluster, openCluster } from '../../warehouse/index.js';
import { startClickHouse, type TestClickHouse } from './clickhouse.js';

export interface TestCluster {
  readonly servers: readonly TestClickHouse[];
  /** As the configuration names the nodes: `;` between shards. */
  readonly nodes: string;
  /** Opens the cluster of the first `shards` servers; the test closes it. */
  open(shards?: number): Cluster;
  stop(): Promise<void>;
}

/**
 * Embedded servers as the shards of a cluster, with one owner and one reader for all of them. In their configuration,
 * `chancery` is the cluster of all, `chancery_N` that of the first N.
 */
export async function startCluster(options: { shards: number; database?: string }): Promise<TestCluster> {
  const { database = 'chancery' } = options;
  const ports: number[] = [];
  while (ports.length < options.shards) ports.push(await freePort(ports));
  const passwords = { owner: randomBytes(24).toString('base64url'), reader: randomBytes(24).toString('base64url') };
  const clusters = Object.fromEntries(
    ports.map((_, i) => [clusterName(i + 1, ports.length), ports.slice(0, i + 1).map((port) => [port])]),
  );
  const cluster = { clusters, secret: new Secret('of the nodes') };
  const servers: TestClickHouse[] = [];
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    for (const tcpPort of ports) {
      const dataFolder = mkdtempSync(join(tmpdir(), 'chancery-shard-'));
      mkdirSync(join(dataFolder, 'clickhouse'), { mode: 0o700 });
      writeFileSync(join(dataFolder, 'clickhouse', 'credentials.json'), JSON.stringify(passwords), { mode: 0o600 });
      servers.push(await startClickHouse({ dataFolder, tcpPort, cluster, database, memoryBytes: 2e9 }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    servers,
    nodes: servers.map((server) => server.endpoint.url).join(';'),
    open: (shards = servers.length) =>
      openCluster({
        name: clusterName(shards, servers.length),
        nodes: servers.slice(0, shards).map((server) => [server.endpoint.url]),
        login: { user: 'owner', password: new Secret(passwords.owner) },
        database,
        application: 'test',
      }),
    stop,
  };
}

const clusterName = (shards: number, all: number): string => (shards === all ? 'chancery' : `chancery_${shards}`);
