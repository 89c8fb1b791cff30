import {
  describeError,
  type Logger,
  OutageLog,
  retry,
  Secret,
  type Settings,
  UnavailableError,
} from '../../core/index.js';
import { TRANSFORM_TABLES } from '../../transforms/index.js';
import {
  type Cluster,
  Connection,
  ConnectionError,
  type EmbeddedEndpoint,
  findEmbedded,
  type MigrateResult,
  migrate,
  migrateCluster,
  openCluster,
  type ShardConnection,
} from '../../warehouse/index.js';
import { clickHouseTarget } from './clickhouse-target.js';
import { assertLayout } from './instance.js';
import type { ServiceContext } from './run-service.js';

/** The ClickHouse that is written to: one server, or the shards of a cluster. */
export interface Warehouse {
  readonly shards: readonly ShardConnection[];
  /** Creates or updates tables and views; idempotent. On a cluster, one result per node. */
  migrate(signal: AbortSignal): Promise<readonly (MigrateResult & { readonly url: string })[]>;
  /** As `migrate`, but nodes of a cluster that do not respond are skipped. */
  prepare(log: Logger, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** The configured cluster, as the owner; undefined without one. Does not connect. */
export function clusterOf(settings: Settings, application: string): Cluster | undefined {
  const { clickhouseClusterName: name, clickhouseQuorum: quorum, database } = settings;
  const target = clickHouseTarget(settings);
  if (target.kind !== 'cluster') return undefined;
  const login = { user: settings.clickhouseUser, password: new Secret(settings.clickhousePassword) };
  return openCluster({ name, nodes: target.nodes, login, database, application, quorum });
}

/**
 * Connects as the owner to the configured ClickHouse or to the embedded one of the data folder.
 * @throws UnavailableError when neither is running
 */
export async function openWarehouse(settings: Settings, application: string): Promise<Warehouse> {
  const cluster = clusterOf(settings, application);
  return cluster ? overCluster(cluster, settings) : overServer(await connectOwner(settings, application), settings);
}

/**
 * Connects as the owner for queries: on a cluster to the first node that responds, since every node answers for all.
 * @throws UnavailableError when none is running
 */
async function connectOwner(settings: Settings, application: string): Promise<Connection> {
  const target = clickHouseTarget(settings);
  const { clickhouseUser: user, clickhousePassword, database } = settings;
  const password = new Secret(clickhousePassword);
  const connect = (url: string) => new Connection({ endpoint: { url, user, password }, database, application });
  if (target.kind === 'server') return connect(target.url);
  if (target.kind === 'embedded') {
    return new Connection({ endpoint: (await embeddedOf(settings)).owner, database, application });
  }
  for (const url of target.nodes.flat()) {
    const connection = connect(url);
    if (await connection.answers()) return connection;
    await connection.close();
  }
  throw new UnavailableError(
    `no node of the cluster ${settings.clickhouseCluster} responds; check that they are running`,
  );
}

async function embeddedOf({ data }: Settings): Promise<EmbeddedEndpoint> {
  assertLayout(data);
  const running = await findEmbedded(data);
  if (running) return running;
  throw new UnavailableError(
    `no ClickHouse is running on ${data}; start it with \`chancery warehouse --data ${data}\`, ` +
      'or name another with --clickhouse-url',
  );
}

function overServer(connection: Connection, { fsync }: Settings): Warehouse {
  return {
    shards: [connection],
    migrate: async (signal) => [{ url: connection.url, ...(await migrate(connection, { fsync }, signal)) }],
    prepare: async (_, signal) => {
      await migrate(connection, { fsync }, signal);
    },
    close: () => connection.close(),
  };
}

function overCluster(cluster: Cluster, { fsync }: Settings): Warehouse {
  const run = (signal: AbortSignal) => migrateCluster(cluster, { fsync, tables: TRANSFORM_TABLES }, signal);
  return {
    shards: cluster.shards,
    migrate: run,
    prepare: async (log, signal) => {
      try {
        await run(signal);
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        log.warn(`${describeError(error)}; tables and views are not updated now`);
      }
    },
    close: () => cluster.close(),
  };
}

/** Maximum delay between two attempts to connect to ClickHouse, milliseconds. */
const POLL_MS = 500;

type Waiting = Pick<ServiceContext, 'settings' | 'log' | 'signal' | 'setWaitCause'>;

/** As `openWarehouse`, but waits until ClickHouse is running. */
export function awaitWarehouse(application: string, context: Waiting): Promise<Warehouse> {
  return untilAvailable(context, () => openWarehouse(context.settings, application));
}

/**
 * Retries `work` until ClickHouse is available. The log reports the wait once, /healthz throughout. Other errors are
 * thrown, and the signal's reason when it is aborted.
 */
export async function untilAvailable<T>(context: Waiting, work: () => Promise<T>): Promise<T> {
  const { log, signal, setWaitCause } = context;
  const outage = new OutageLog(log, 'ClickHouse is available');
  const result = await retry(work, {
    attempts: Number.POSITIVE_INFINITY,
    capMs: POLL_MS,
    signal,
    onRetry: (error) => {
      const reason = describeError(error);
      setWaitCause(`waiting for ClickHouse: ${reason}`);
      outage.failed(reason);
    },
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
  setWaitCause('starting');
  outage.succeeded();
  return result;
}
