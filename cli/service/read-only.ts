import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client';
import { createLogger, type Settings, UnavailableError, UsageError } from '../../core/index.js';
import {
  type ClickHouseEndpoint,
  consoleUrl,
  EmbeddedClickHouse,
  type EmbeddedEndpoint,
  findEmbedded,
  shardDatabase,
} from '../../warehouse/index.js';
import { reasonOf } from '../sql/query.js';
import { clickHouseTarget } from './clickhouse-target.js';
import { assertInstance, assertRecorded } from './instance.js';

/** A read-only connection to ClickHouse. */
export interface ReadOnly {
  readonly client: ClickHouseClient;
  /** HTTP interface. */
  readonly url: string;
  /** ClickHouse's web console, with the password filled in if there is one; show it on a terminal only. */
  readonly consoleUrl: string;
  /** Lines that describe how to connect to the same server with other tools. */
  readonly otherTools: readonly string[];
  /** Of an embedded server: why it is not restricted to its own files; null when it is. */
  readonly unconfined?: string | null;
  /** True when the server was started for this connection. */
  readonly temporary: boolean;
  close(): Promise<void>;
}

/**
 * Connects as a read-only user to the configured ClickHouse or to the embedded one that runs on the data folder.
 * Undefined when neither is running.
 */
export async function findReadOnly(settings: Settings, as: Access = QUERYING): Promise<ReadOnly | undefined> {
  const target = clickHouseTarget(settings);
  if (target.kind === 'server') return connectServer(settings, target.url, as);
  if (target.kind === 'cluster') return connectFirst(settings, target.nodes.flat(), as);
  const running = await findEmbedded(settings.data);
  return running && connectEmbedded(settings, running, as);
}

/**
 * One connection per shard of the configured cluster, to the shard's own rows; undefined without a cluster.
 * @throws UnavailableError when a shard does not respond
 */
export async function connectShards(settings: Settings, as: Access): Promise<ReadOnly[] | undefined> {
  const target = clickHouseTarget(settings);
  if (target.kind !== 'cluster') return undefined;
  const own = { ...settings, database: shardDatabase(settings.database) };
  const found = await Promise.allSettled(target.nodes.map((replicas) => connectFirst(own, replicas, as)));
  const connections = found.filter((outcome) => outcome.status === 'fulfilled').map((outcome) => outcome.value);
  const failed = found.find((outcome) => outcome.status === 'rejected');
  if (!failed) return connections;
  await Promise.all(connections.map((connection) => connection.close()));
  throw failed.reason;
}

/**
 * As `connectReadOnly`, without the limits of the reader: on the embedded server as the owner, restricted to reading.
 * Statements may change settings.
 */
export async function connectForExport(settings: Settings, signal: AbortSignal): Promise<ReadOnly> {
  return connectReadOnly(settings, signal, EXPORTING);
}

/** As `findReadOnly`; when no ClickHouse runs on the data folder, one is started for as long as this connection is open. */
export async function connectReadOnly(
  settings: Settings,
  signal: AbortSignal,
  as: Access = QUERYING,
): Promise<ReadOnly> {
  assertInstance(settings);
  const found = await findReadOnly(settings, as);
  if (found) return found;
  assertRecorded(settings);
  process.umask(0o077);
  const server = new EmbeddedClickHouse({
    dataFolder: settings.data,
    database: settings.database,
    httpPort: 0,
    memoryBytes: settings.clickhouseMemory,
    readerMaxRows: settings.readerMaxRows,
    readerMaxSeconds: settings.readerMaxSeconds,
    unconfined: settings.clickhouseUnconfined,
    logger: createLogger({ service: 'clickhouse', level: 'fatal', plain: true }),
  });
  await server.start(signal);
  const connection = connectEmbedded(settings, server.endpoint, as);
  return {
    ...connection,
    temporary: true,
    async close() {
      await connection.close();
      await server.stop();
    },
  };
}

function connectEmbedded(settings: Settings, endpoint: EmbeddedEndpoint, as: Access): ReadOnly {
  const enforced = as.user === 'owner' ? { ...READING, readonly: as.readonly } : READING;
  const client = open(endpoint[as.user], settings.database, as, enforced);
  const password = endpoint.reader.password.reveal();
  return {
    client,
    url: endpoint.url,
    consoleUrl: consoleUrl(endpoint),
    unconfined: endpoint.unconfined ?? null,
    temporary: false,
    otherTools: [
      `web console        ${consoleUrl(endpoint)}`,
      `HTTP               ${endpoint.url}  user reader, password ${password}, database ${settings.database}`,
      `Grafana            host 127.0.0.1, protocol HTTP, port ${new URL(endpoint.url).port}, same user; see docs/dashboards.md`,
      endpoint.tcpPort === undefined
        ? 'clickhouse-client  needs the native protocol, which is off; see docs/embedded-clickhouse.md'
        : `clickhouse-client  --host 127.0.0.1 --port ${endpoint.tcpPort} --user reader --password ${password}`,
    ],
    close: () => client.close(),
  };
}

/** Connects to the first node that responds: every node answers for the whole cluster. */
async function connectFirst(settings: Settings, urls: readonly string[], as: Access): Promise<ReadOnly> {
  let failure: unknown;
  for (const url of urls) {
    try {
      return await connectServer(settings, url, as);
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

/** Connects to an external server: its user may be able to write, so every statement is sent with `readonly`. */
async function connectServer(settings: Settings, url: string, as: Access): Promise<ReadOnly> {
  const user = settings.clickhouseUser;
  const endpoint = { url, user, password: settings.clickhousePassword };
  let client = open(endpoint, settings.database, as, {});
  const mode = await readOnlyMode(client, url);
  if (mode !== 1) {
    await client.close();
    client = open(endpoint, settings.database, as, mode === 0 ? { ...READING, readonly: as.readonly } : READING);
  }
  return {
    client,
    url,
    consoleUrl: `${url}/play`,
    temporary: false,
    otherTools: [`HTTP  ${url}  user ${user}, database ${settings.database}`],
    close: () => client.close(),
  };
}

/** `readonly` of the user's profile: 0 may write, 1 may not change any setting, 2 may change settings. */
async function readOnlyMode(client: ClickHouseClient, url: string): Promise<number> {
  try {
    const answer = await client.query({ query: "SELECT getSetting('readonly') AS mode", format: 'JSONEachRow' });
    const [row] = await answer.json<{ mode: number | string }>();
    return Number(row?.mode);
  } catch (error) {
    await client.close();
    if (error instanceof ClickHouseError)
      throw new UsageError(`ClickHouse at ${url} rejects the connection: ${reasonOf(error)}`);
    throw new UnavailableError(`ClickHouse at ${url} does not respond; check the address and that it is running`, {
      cause: error,
    });
  }
}

interface Access {
  readonly application: string;
  /** User of the embedded server. */
  readonly user: 'reader' | 'owner';
  /** ClickHouse's setting, for a user that may write: 1 reads with fixed settings, 2 reads with any. */
  readonly readonly: '1' | '2';
  /** A query fails when the server sends nothing for this long, milliseconds. */
  readonly timeoutMs: number;
}
const QUERYING: Access = { application: 'chancery sql', user: 'reader', readonly: '1', timeoutMs: 120_000 };
/** What is not read in time is a problem that the report names. */
export const REPORTING: Access = { ...QUERYING, application: 'chancery status', timeoutMs: 30_000 };
/** The server sends a file only when it is complete, which takes long for a large one. */
const EXPORTING: Access = { application: 'chancery export', user: 'owner', readonly: '2', timeoutMs: 3_600_000 };

/** Output settings: in CSV, NULL is an empty field, as in spreadsheets, and an empty text is `""`. */
const READING: ClickHouseSettings = { format_csv_null_representation: '' };

function open(
  { url, user, password }: Omit<ClickHouseEndpoint, 'password'> & { password: string | { reveal(): string } },
  database: string,
  { application, timeoutMs }: Access,
  enforced: ClickHouseSettings,
): ClickHouseClient {
  return createClient({
    url,
    username: user,
    password: typeof password === 'string' ? password : password.reveal(),
    database,
    application,
    request_timeout: timeoutMs,
    clickhouse_settings: enforced,
    log: { level: ClickHouseLogLevel.OFF },
  });
}
