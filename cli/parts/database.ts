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
import type { PartContext } from './run-part.js';

/** Everything that is written to: one server, or the shards of a cluster. */
export interface Warehouse {
  readonly shards: readonly ShardConnection[];
  /** Brings tables and views up to date; harmless when they are. On a cluster, one result per node. */
  migrate(signal: AbortSignal): Promise<readonly (MigrateResult & { readonly url: string })[]>;
  /** As `migrate`, before something that can do without: nodes of a cluster that do not answer now are left as they are. */
  prepare(log: Logger, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** The configured cluster, as the user who may do everything; undefined without one. None of its nodes is asked. */
export function clusterOf(settings: Settings, application: string): Cluster | undefined {
  const { clickhouseClusterName: name, clickhouseQuorum: quorum, database } = settings;
  const target = clickHouseTarget(settings);
  if (target.kind !== 'cluster') return undefined;
  const login = { user: settings.clickhouseUser, password: new Secret(settings.clickhousePassword) };
  return openCluster({ name, nodes: target.nodes, login, database, application, quorum });
}

/**
 * Connects as the user who may do everything, to the configured ClickHouse or to the embedded one of the data folder.
 * @throws UnavailableError when neither is there
 */
export async function openWarehouse(settings: Settings, application: string): Promise<Warehouse> {
  const cluster = clusterOf(settings, application);
  return cluster ? overCluster(cluster, settings) : overServer(await connectOwner(settings, application), settings);
}

/**
 * Connects as that user to ask questions: on a cluster to the first node that answers, for every node answers for all.
 * @throws UnavailableError when none is there
 */
export async function connectOwner(settings: Settings, application: string): Promise<Connection> {
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
  throw new UnavailableError(`no node of the cluster ${settings.clickhouseCluster} answers; check that they run`);
}

async function embeddedOf({ data }: Settings): Promise<EmbeddedEndpoint> {
  assertLayout(data);
  const running = await findEmbedded(data);
  if (running) return running;
  throw new UnavailableError(
    `no ClickHouse runs on ${data}; start it with \`chancery warehouse --data ${data}\`, ` +
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
        log.warn(`${describeError(error)}; tables and views are not brought up to date now`);
      }
    },
    close: () => cluster.close(),
  };
}

/** Longest pause between two looks whether ClickHouse is there, milliseconds. */
const POLL_MS = 500;

type Waiting = Pick<PartContext, 'settings' | 'log' | 'signal' | 'waits'>;

/** As `openWarehouse`; while the embedded ClickHouse of the data folder is not there, it waits for it. */
export function awaitWarehouse(application: string, context: Waiting): Promise<Warehouse> {
  return untilAvailable(context, () => openWarehouse(context.settings, application));
}

/**
 * Tries until ClickHouse is there, which the log says once and /healthz all the time; other errors are thrown, and the
 * signal's reason when it is aborted.
 */
export async function untilAvailable<T>(context: Waiting, work: () => Promise<T>): Promise<T> {
  const { log, signal, waits } = context;
  const outage = new OutageLog(log, 'ClickHouse is there');
  const result = await retry(work, {
    attempts: Number.POSITIVE_INFINITY,
    capMs: POLL_MS,
    signal,
    onRetry: (error) => {
      const reason = describeError(error);
      waits(`waiting for ClickHouse: ${reason}`);
      outage.failed(reason);
    },
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
  waits('starting');
  outage.succeeded();
  return result;
}
