import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import {
  describeError,
  newPassword,
  SETTINGS,
  type Secret,
  sha256Hex,
  UsageError,
  writeFileAtomicSync,
} from '../../core/index.js';
import { shardDatabase } from '../names.js';
import type { EmbeddedPaths } from './paths.js';

const credentialsSchema = z.object({ owner: z.string().min(20), reader: z.string().min(20) });
/** Passwords of the two users, generated once per data folder. */
export type Credentials = z.infer<typeof credentialsSchema>;

interface ServerLimits {
  readonly database: string;
  /** Memory limit of the whole server, bytes. */
  readonly memoryBytes: number;
  readonly readerMaxRows?: number;
  readonly readerMaxSeconds?: number;
  readonly cluster?: EmbeddedCluster;
}

/** Embedded servers of one machine as a cluster: the configuration that each of them gets. */
export interface EmbeddedCluster {
  /** Native protocol ports on loopback, by cluster name, shard and replica. */
  readonly clusters: Readonly<Record<string, readonly (readonly number[])[]>>;
  /** The interserver secret: with it a query runs as the same user on every shard. */
  readonly secret: Secret;
  /** Loopback port of the coordination service of replicated tables. */
  readonly keeperPort?: number;
}

/** Writes the server's configuration and users (mode 0600), and generates the passwords if there are none. */
export function prepareFolder(paths: EmbeddedPaths, limits: ServerLimits): Credentials {
  try {
    mkdirSync(paths.store, { recursive: true, mode: 0o700 });
    chmodSync(paths.folder, 0o700);
    if (!existsSync(paths.credentials)) {
      const made: Credentials = { owner: newPassword(), reader: newPassword() };
      writeFileAtomicSync(paths.credentials, `${JSON.stringify(made, null, 2)}\n`);
    }
    const credentials = readCredentials(paths);
    writeFileAtomicSync(paths.users, usersXml(credentials, limits));
    writeFileAtomicSync(paths.config, configXml(paths, limits));
    return credentials;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `cannot prepare the ClickHouse folder ${paths.folder}: ${describeError(error)}; make it writable or choose another with --data`,
      { cause: error },
    );
  }
}

/** Links the folders outside that the server may read, and removes the links of a former start. */
export function linkReadable(paths: EmbeddedPaths, folders: readonly string[]): void {
  rmSync(paths.readable, { recursive: true, force: true });
  mkdirSync(paths.readable);
  for (const [number, folder] of folders.entries()) symlinkSync(folder, join(paths.readable, String(number)));
}

export function readCredentials(paths: EmbeddedPaths): Credentials {
  let text: string;
  try {
    text = readFileSync(paths.credentials, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${paths.credentials}: ${describeError(error)}`, { cause: error });
  }
  try {
    return credentialsSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new UsageError(`${paths.credentials} is corrupt; delete it and restart to generate new passwords`, {
      cause: error,
    });
  }
}

/** Grafana's driver requests this many seconds more than the limit of its query. */
const DRIVER_EXTRA_S = 5;
/** Each has a thread. Our own processes and a dashboard need a few dozen. */
const MAX_CONNECTIONS = 256;
const MAX_THREADS = 2000;
/**
 * Timeouts of a connection that sends nothing, seconds. They end the whole process in the middle of a request's header
 * (`connection-guard.ts`): on Linux, where a connection is ended before, they never pass.
 */
const RECEIVE_TIMEOUT_S = process.platform === 'linux' ? 86_400 : 5;
/** Longer than the guard waits, for the same reason: it also limits the first line of a request. */
const KEEP_ALIVE_S = process.platform === 'linux' ? 10 : 3;

/**
 * By default, every table looks about once a second for something to merge, to move or to stream: most of what a server without
 * inserts does. An insert starts the search for merges at once; nothing is streamed.
 */
const IDLE_XML = [
  ...['processing_pool', 'move_processing_pool', 'streaming_processing_pool'].flatMap((pool) => [
    `  <background_${pool}_thread_sleep_seconds_if_nothing_to_do>5</background_${pool}_thread_sleep_seconds_if_nothing_to_do>`,
    `  <background_${pool}_task_sleep_seconds_when_no_work_multiplier>2</background_${pool}_task_sleep_seconds_when_no_work_multiplier>`,
  ]),
  // Read by nobody.
  '  <asynchronous_metrics_update_period_s>60</asynchronous_metrics_update_period_s>',
  // How often the memory of the process is read: every 50 ms by default.
  '  <memory_worker_period_ms>250</memory_worker_period_ms>',
].join('\n');

const xml = (text: string): string => text.replace(/[<>&"']/g, (c) => `&#${c.charCodeAt(0)};`);

function configXml(paths: EmbeddedPaths, limits: ServerLimits): string {
  const threads = Math.min(16, Math.max(2, availableParallelism()));
  return `<clickhouse>
  <users_config>${xml(paths.users)}</users_config>
  <timezone>UTC</timezone>
  <background_pool_size>${threads}</background_pool_size>
  <background_schedule_pool_size>16</background_schedule_pool_size>
${IDLE_XML}
  <max_server_memory_usage>${Math.floor(limits.memoryBytes)}</max_server_memory_usage>
  <mark_cache_size>${Math.floor(limits.memoryBytes / 16)}</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <keep_alive_timeout>${KEEP_ALIVE_S}</keep_alive_timeout>
  <max_connections>${MAX_CONNECTIONS}</max_connections>
  <max_thread_pool_size>${MAX_THREADS}</max_thread_pool_size>
  <thread_pool_queue_size>${MAX_THREADS}</thread_pool_queue_size>
${limits.cluster ? clusterXml(limits.cluster) : ''}</clickhouse>
`;
}

function clusterXml({ clusters, secret, keeperPort }: EmbeddedCluster): string {
  const replica = (port: number) => `<replica><host>127.0.0.1</host><port>${port}</port></replica>`;
  const shard = (ports: readonly number[]) =>
    `<shard><internal_replication>true</internal_replication>${ports.map(replica).join('')}</shard>`;
  const definitions = Object.entries(clusters).map(
    ([name, shards]) =>
      `    <${name}><secret>${xml(secret.reveal())}</secret>${shards.map(shard).join('')}</${name}>\n`,
  );
  const keeper = `  <zookeeper><node><host>127.0.0.1</host><port>${keeperPort}</port></node></zookeeper>\n`;
  return `  <remote_servers replace="1">\n${definitions.join('')}  </remote_servers>\n${keeperPort === undefined ? '' : keeper}`;
}

/**
 * The plan that EXPLAIN shows by default since ClickHouse 26.7 has every expression in full: of our views gigabytes, which end
 * the server.
 */
const EXPLAIN = '<explain_query_plan_default>legacy</explain_query_plan_default>';

/**
 * ClickHouse 26.7 replaces the comparison of a text with an empty one by its subcolumn `size`, which a view that passes a
 * column on does not have: `SELECT count() FROM latest_ticks WHERE market = ''` would be an error.
 */
const SUBCOLUMNS = '<optimize_functions_to_subcolumns>0</optimize_functions_to_subcolumns>';

/**
 * The search for columns that no step of a plan uses makes planning of our views slower, and finds none: they read the same rows and
 * bytes without it.
 */
const UNUSED_COLUMNS = '<query_plan_remove_unused_columns>0</query_plan_remove_unused_columns>';

/**
 * A query reads one state of a table, however often it names it (ClickHouse's default). Views depend on it that read what a rollup holds from
 * one table and the rest from another: without it, what is published in between would count twice or not at all.
 */
const ONE_SNAPSHOT = '<enable_shared_storage_snapshot_in_query>1</enable_shared_storage_snapshot_in_query>';

/**
 * Three users. The library's own session uses `default`, from loopback and without a password, which cannot be changed.
 * Its profile therefore rejects every query longer than one character (the child raises that limit for its own session
 * only) and a second session: even a query without any grant could read files with `SELECT file('…')`. `owner` is
 * Chancery. `reader` can only SELECT from Chancery's database, and kill its own queries, which ClickHouse looks up in
 * `system.processes`. It may change settings of its queries (Grafana's driver does, and requests five seconds more than its
 * own limit), but neither raise the limits nor write.
 */
function usersXml(credentials: Credentials, limits: ServerLimits): string {
  const half = Math.floor(limits.memoryBytes / 2);
  const rows = limits.readerMaxRows ?? SETTINGS.readerMaxRows.default;
  const seconds = limits.readerMaxSeconds ?? SETTINGS.readerMaxSeconds.default;
  const networks = '<networks><ip>127.0.0.1</ip><ip>::1</ip></networks>';
  return `<clickhouse>
  <profiles>
    <default>
      ${EXPLAIN}
      ${SUBCOLUMNS}
      ${UNUSED_COLUMNS}
      ${ONE_SNAPSHOT}
      <http_receive_timeout>${RECEIVE_TIMEOUT_S}</http_receive_timeout>
      <http_headers_read_timeout>${RECEIVE_TIMEOUT_S}</http_headers_read_timeout>
    </default>
    <session>
      <max_query_size>1</max_query_size>
      <max_sessions_for_user>1</max_sessions_for_user>
      <constraints>
        <max_query_size><const/></max_query_size>
        <max_sessions_for_user><const/></max_sessions_for_user>
      </constraints>
    </session>
    <reader>
      ${EXPLAIN}
      ${SUBCOLUMNS}
      ${UNUSED_COLUMNS}
      ${ONE_SNAPSHOT}
      <readonly>2</readonly>
      <max_execution_time>${seconds}</max_execution_time>
      <max_memory_usage>${half}</max_memory_usage>
      <max_memory_usage_for_user>${half}</max_memory_usage_for_user>
      <max_temporary_data_on_disk_size_for_user>${half}</max_temporary_data_on_disk_size_for_user>
      <max_result_rows>${rows}</max_result_rows>
      <max_concurrent_queries_for_user>32</max_concurrent_queries_for_user>
      <constraints>
        <readonly><const/></readonly>
        <max_execution_time><min>1</min><max>${seconds + DRIVER_EXTRA_S}</max></max_execution_time>
        <max_memory_usage><const/></max_memory_usage>
        <max_memory_usage_for_user><const/></max_memory_usage_for_user>
        <max_temporary_data_on_disk_size_for_user><const/></max_temporary_data_on_disk_size_for_user>
        <max_result_rows><min>1</min><max>${rows}</max></max_result_rows>
        <max_concurrent_queries_for_user><const/></max_concurrent_queries_for_user>
      </constraints>
    </reader>
  </profiles>
  <quotas><default/></quotas>
  <users>
    <default>
      <no_password/><networks><ip>127.0.0.1</ip></networks><profile>session</profile><quota>default</quota>
      <grants><query>GRANT SYSTEM LISTEN ON *.*</query></grants>
    </default>
    <owner>
      <password_sha256_hex>${sha256Hex(credentials.owner)}</password_sha256_hex>${networks}
      <profile>default</profile><quota>default</quota>
    </owner>
    <reader>
      <password_sha256_hex>${sha256Hex(credentials.reader)}</password_sha256_hex>${networks}
      <profile>reader</profile><quota>default</quota>
      <default_database>${limits.database}</default_database>
      <grants>
        <query>GRANT SELECT ON ${limits.database}.*</query>
        <query>GRANT SHOW ON ${limits.database}.*</query>
        <query>GRANT SELECT(query, query_id, user) ON system.processes</query>
${limits.cluster ? `        <query>GRANT SELECT ON ${shardDatabase(limits.database)}.*</query>\n` : ''}      </grants>
    </reader>
  </users>
</clickhouse>
`;
}
