/**
 * The embedded ClickHouse server's process: `node child.js DATA_FOLDER HTTP_PORT [TCP_PORT]`, with the owner's password as
 * the first line of stdin. The library's main function runs on its own thread and executes one endless query. To shut
 * the server down cleanly, this file cancels that query on SIGTERM or when stdin, a pipe from the parent, closes.
 */
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import {
  arrayConstructor,
  DataType,
  isNullPointer,
  type JsExternal,
  load,
  open,
  restorePointer,
  wrapPointer,
} from 'ffi-rs';
import { describeError, STOP_MS } from '../../core/index.js';
import { guardConnections } from './connection-guard.js';
import { clickHouseLibrary } from './library.js';
import { embeddedPaths } from './paths.js';
import { FAILED } from './server-output.js';

/** Sleeps in blocks of one row, so that it ends at most 0.2 s after it is cancelled. */
const KEEP_ALIVE_QUERY =
  'SELECT sleepEachRow(0.2) FROM numbers(1000000000000) SETTINGS max_block_size=1, max_execution_time=0 FORMAT Null';

const RESPONSE_MS = 2000;
/** ClickHouse's default. The limit of the library's own session holds for every user whose profile names none. */
const MAX_QUERY_BYTES = 262_144;

const [dataFolder = '', httpPort = '', tcpPort] = process.argv.slice(2);
const paths = embeddedPaths(dataFolder);
let password = '';
let stopping = false;

/** Not `process.exit()`: while the library's threads run, that would destroy objects that they use. */
const killSelf = (): void => void process.kill(process.pid, 'SIGKILL');

/** The response to a query of the owner; undefined when the server does not respond. */
function askServer(sql: string): Promise<string | undefined> {
  const headers = { 'X-ClickHouse-User': 'owner', 'X-ClickHouse-Key': password };
  return new Promise((resolve) => {
    // `agent: false`: no keep-alive, since an open connection would delay the shutdown.
    const asked = request({ host: '127.0.0.1', port: httpPort, path: '/', method: 'POST', headers, agent: false });
    asked.setTimeout(RESPONSE_MS, () => asked.destroy());
    asked.on('error', () => resolve(undefined));
    asked.on('response', (response) => {
      text(response).then(
        (answer) => resolve(response.statusCode === 200 ? answer : undefined),
        () => resolve(undefined),
      );
    });
    asked.end(sql);
  });
}

const cancelKeepAliveQuery = () =>
  void askServer("KILL QUERY WHERE user = '' AND query LIKE 'SELECT sleepEachRow(%' ASYNC");

/** Without INSERTs whose rows the client sends: it may have stopped in the middle of them. */
async function runningPorts(): Promise<ReadonlySet<number> | undefined> {
  const ports = await askServer(
    "SELECT port FROM system.processes WHERE query_kind != 'Insert' " +
      String.raw`OR (match(query, '(?i)\\bSELECT\\b') AND NOT match(query, '(?i)\\bFORMAT\\s+\\w+\\s*$'))`,
  );
  return ports === undefined ? undefined : new Set(ports.split('\n').map(Number));
}

function stop(): void {
  if (stopping) return;
  stopping = true;
  // The server waits for idle connections to close, which may never happen; a kill loses no acknowledged data.
  setTimeout(killSelf, STOP_MS.clickhouse);
  cancelKeepAliveQuery();
  // Repeatedly: the listener or the query may not have started yet.
  setInterval(cancelKeepAliveQuery, 250);
}

function end(code: number, line: string): void {
  if (!line) process.exit(code);
  process.stderr.write(`${line}\n`, () => process.exit(code));
}

/** Return value of the library's main function: `{char* buf; size_t len; void* vec; double s; u64 rows; u64 bytes; char* error}`. */
const RESULT = {
  buf: DataType.External,
  len: DataType.U64,
  vec: DataType.External,
  seconds: DataType.Double,
  rows: DataType.U64,
  bytes: DataType.U64,
  error: DataType.External,
};

function errorOf(result: JsExternal): string {
  if (isNullPointer(result)) return 'the library returned nothing';
  const fields: unknown = restorePointer({ retType: [RESULT], paramsValue: wrapPointer([result]) })[0];
  const text = (fields as { error: JsExternal }).error;
  if (isNullPointer(text)) return '';
  return String(restorePointer({ retType: [DataType.String], paramsValue: wrapPointer([text]) })[0]);
}

async function main(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  createInterface(process.stdin).once('line', (line) => {
    password = line;
  });
  process.stdin.on('error', stop).on('end', stop).on('close', stop);
  process.on('SIGTERM', stop);
  // Ctrl-C and a closed terminal signal the whole process group; the parent decides when its children stop.
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);

  const args = ['clickhouse', '--config-file', paths.config, '--path', paths.store, '--log-level', 'warning'];
  args.push('--listen_host', '127.0.0.1', '--http_port', httpPort);
  if (tcpPort !== undefined) args.push('--tcp_port', tcpPort);
  const listen = ['HTTP', ...(tcpPort === undefined ? [] : ['TCP'])].map((name) => `SYSTEM START LISTEN ${name}; `);
  args.push('--max_query_size', String(MAX_QUERY_BYTES), '-q', `${listen.join('')}${KEEP_ALIVE_QUERY}`);
  if (process.platform === 'linux') guardConnections(Number(httpPort), runningPorts).unref();
  open({ library: 'clickhouse', path: clickHouseLibrary() });
  const result = await load({
    library: 'clickhouse',
    funcName: 'query_stable_v2',
    retType: DataType.External,
    runInNewThread: true,
    paramsType: [DataType.I32, arrayConstructor({ type: DataType.StringArray, length: args.length })],
    paramsValue: [args.length, args],
  });
  const error = errorOf(result);
  if (stopping) end(0, '');
  else end(1, `${FAILED}${error}`);
}

main().catch((error: unknown) => end(1, `${FAILED}${describeError(error)}`));
