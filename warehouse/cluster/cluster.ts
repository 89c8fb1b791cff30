import { Connection } from '../connection.js';
import type { ClickHouseEndpoint } from '../embedded/endpoint.js';
import { shardDatabase } from '../names.js';
import { ClusterShard } from './cluster-shard.js';
import type { ShardConnection } from './shard-connection.js';

export interface ClusterOptions {
  /** Name of the cluster in `remote_servers` of its nodes. */
  readonly name: string;
  /** URLs of the nodes, by shard and replica. */
  readonly nodes: readonly (readonly string[])[];
  /** The user of all nodes. */
  readonly login: Omit<ClickHouseEndpoint, 'url'>;
  /** The database that users query. The rows are in another one, see `shardDatabase`. */
  readonly database: string;
  readonly application: string;
  /** Replicas of a shard that must store an insert before it is acknowledged. Default 1. */
  readonly quorum?: number;
  readonly timeoutMs?: number;
}

export interface ClusterNode {
  /** Number of its shard, from 0. */
  readonly shard: number;
  /** Name among the replicas of the shard. */
  readonly replica: string;
  readonly connection: Connection;
}

/** A ClickHouse cluster: shards, each on one or several nodes. Opening it connects to none of them. */
export interface Cluster {
  readonly name: string;
  readonly database: string;
  /** In the configured order, which must not change. */
  readonly shards: readonly ShardConnection[];
  readonly nodes: readonly ClusterNode[];
  /** Whether tables are Replicated: some shard has more than one node. */
  readonly replicated: boolean;
  close(): Promise<void>;
}

export function openCluster(options: ClusterOptions): Cluster {
  const { name, database, login, application, timeoutMs, quorum = 1 } = options;
  const connect = (url: string) =>
    new Connection({
      endpoint: { ...login, url },
      database: shardDatabase(database),
      application,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  const nodes = options.nodes.flatMap((urls, shard) =>
    urls.map((url) => ({ shard, replica: new URL(url).host.replaceAll(':', '-'), connection: connect(url) })),
  );
  const shards = options.nodes.map((_, number) => {
    const [first, ...others] = nodes.filter((node) => node.shard === number).map((node) => node.connection);
    if (!first) throw new RangeError(`shard ${number + 1} has no node`);
    return new ClusterShard([first, ...others], { cluster: name, number, quorum });
  });
  return {
    name,
    database,
    shards,
    nodes,
    replicated: options.nodes.some((urls) => urls.length > 1),
    close: async () => {
      await Promise.all(shards.map((shard) => shard.close()));
    },
  };
}
