import { setMaxListeners } from 'node:events';
import { UsageError } from '../../core/index.js';
import type { Connection } from '../connection.js';
import { quoteName } from '../connection.js';
import { ConnectionError, StatementError } from '../errors.js';
import type { TableBlock } from '../table.js';
import { readLayouts } from './layouts.js';
import type { CommandOptions, InsertOptions, QueryParams, ReadOptions, ShardConnection } from './shard-connection.js';

interface ClusterShardOptions {
  /** Name of the cluster in `remote_servers` of its nodes. */
  readonly cluster: string;
  /** Number of the shard, from 0. */
  readonly number: number;
  /** Replicas that must store an insert before it is acknowledged (insert_quorum). */
  readonly quorum: number;
}

/** Codes of errors of one replica: another replica may not have them. */
const REPLICA_ERRORS: ReadonlySet<number> = new Set([
  225, // NO_ZOOKEEPER
  242, // TABLE_IS_READ_ONLY
  279, // ALL_CONNECTION_TRIES_FAILED
]);

/**
 * A shard of a cluster: uses the first replica that responds, for as long as it does. Before a replica is used, its shard
 * number is checked: a batch that was begun on one shard must not be finished on another.
 *
 * A replica may lack rows that another acknowledged. A read that must see them (`upToDate`) first waits until the replica
 * has fetched everything that was ever written to the table. Deduplication tokens are in the coordination service, so they
 * are known to any replica that receives a block again.
 */
export class ClusterShard implements ShardConnection {
  readonly database: string;
  #preferred = 0;
  /** Replicas whose shard number was checked. */
  readonly #identified = new Set<Connection>();

  constructor(
    private readonly replicas: readonly [Connection, ...Connection[]],
    private readonly options: ClusterShardOptions,
  ) {
    this.database = replicas[0].database;
  }

  get cluster(): string {
    return this.options.cluster;
  }

  get url(): string {
    return this.replicas.map((replica) => replica.url).join(' or ');
  }

  query<Row>(sql: string, params: QueryParams = {}, signal?: AbortSignal, options: ReadOptions = {}): Promise<Row[]> {
    return this.#withReplica(signal, async (replica) => {
      await this.#catchUp(replica, options, signal);
      return replica.query<Row>(sql, params, signal);
    });
  }

  queryWithBlock<Row>(sql: string, block: TableBlock, signal?: AbortSignal, options: ReadOptions = {}): Promise<Row> {
    return this.#withReplica(signal, async (replica) => {
      await this.#catchUp(replica, options, signal);
      return replica.queryWithBlock<Row>(sql, block, signal);
    });
  }

  async queryEvery<Row>(sql: string, params: QueryParams = {}, signal?: AbortSignal): Promise<Row[]> {
    return (await this.#everyReplica((replica) => replica.query<Row>(sql, params, signal))).flat();
  }

  command(sql: string, options: CommandOptions = {}): Promise<void> {
    return this.#withReplica(options.signal, async (replica) => {
      await this.#catchUp(replica, options, options.signal);
      await replica.command(sql, options);
    });
  }

  async commandEvery(sql: string, signal?: AbortSignal): Promise<void> {
    await this.#everyReplica((replica) => replica.command(sql, { signal }));
  }

  insert(block: TableBlock, options: InsertOptions): Promise<void> {
    const { quorum } = this.options;
    const settings = quorum > 1 ? { ...options.settings, insert_quorum: quorum } : options.settings;
    return this.#withReplica(options.signal, async (replica) => {
      await this.#catchUp(replica, options, options.signal);
      await replica.insert(block, { ...options, settings });
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.close()));
  }

  /** Uses the preferred replica; after a failure of the replica itself the next call uses the next one. */
  async #withReplica<T>(signal: AbortSignal | undefined, work: (replica: Connection) => Promise<T>): Promise<T> {
    const at = this.#preferred;
    const replica = this.replicas[at] ?? this.replicas[0];
    try {
      await this.#identify(replica, signal);
      return await work(replica);
    } catch (error) {
      if (!signal?.aborted && isOfReplica(error)) {
        // It may return with the data of another shard.
        this.#identified.delete(replica);
        if (this.#preferred === at) this.#preferred = (at + 1) % this.replicas.length;
      }
      throw error;
    }
  }

  /** Results of all replicas that respond; throws when none does. */
  async #everyReplica<T>(work: (replica: Connection) => Promise<T>): Promise<T[]> {
    const outcomes = await Promise.allSettled(this.replicas.map(work));
    const refused = outcomes.find((o) => o.status === 'rejected' && !(o.reason instanceof ConnectionError));
    const results = outcomes.filter((o) => o.status === 'fulfilled').map((o) => o.value);
    const failed = refused ?? (results.length === 0 ? outcomes[0] : undefined);
    if (failed?.status === 'rejected') throw failed.reason;
    return results;
  }

  async #identify(replica: Connection, signal: AbortSignal | undefined): Promise<void> {
    if (this.#identified.has(replica)) return;
    const { shard } = await readLayouts(replica, signal);
    assertShard(replica, shard, this.options.number);
    this.#identified.add(replica);
  }

  async #catchUp(replica: Connection, { upToDate = [] }: ReadOptions, signal: AbortSignal | undefined): Promise<void> {
    if (this.replicas.length < 2) return;
    if (signal) setMaxListeners(0, signal);
    for (const table of upToDate) {
      await replica.command(`SYSTEM SYNC REPLICA ${quoteName(this.database)}.${quoteName(table)} LIGHTWEIGHT`, {
        signal,
      });
    }
  }
}

const isOfReplica = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof StatementError && REPLICA_ERRORS.has(error.code));

/** @throws UsageError unless the node holds the configured shard */
export function assertShard(node: Connection, recorded: number | undefined, configured: number): void {
  if (recorded === configured) return;
  throw new UsageError(
    recorded === undefined
      ? `${node.url} is configured as shard ${configured + 1} of the cluster and has no tables yet; run \`chancery migrate\``
      : `${node.url} holds shard ${recorded + 1} of the cluster but is configured as shard ${configured + 1}; ` +
          'restore the order of the shards (new ones are appended)',
  );
}
