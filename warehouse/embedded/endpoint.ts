import { readFileSync, rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { isAlive, isRunning, Secret, UnavailableError, writeFileAtomicSync } from '../../core/index.js';
import { readCredentials } from './files.js';
import { type EmbeddedPaths, embeddedPaths } from './paths.js';

/** How to reach a ClickHouse server over HTTP. */
export interface ClickHouseEndpoint {
  readonly url: string;
  readonly user: string;
  readonly password: Secret;
}

/** A running embedded server. */
export interface EmbeddedEndpoint {
  /** HTTP interface, `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Port of the native protocol on loopback; undefined while it is off. */
  readonly tcpPort?: number | undefined;
  readonly pid: number;
  /** The Chancery process that starts and restarts it. */
  readonly supervisor: number;
  /** Why it is not restricted to its own files; absent when it is. */
  readonly unconfined?: string | undefined;
  /** Chancery's own user, with full access. */
  readonly owner: ClickHouseEndpoint;
  /** For users and dashboards: read only, in Chancery's database, with limits. */
  readonly reader: ClickHouseEndpoint;
}

const fileSchema = z.object({
  url: z.url(),
  tcpPort: z.number().int().optional(),
  pid: z.number().int(),
  /** The run of the process `pid`: only that one may be killed. Absent in files of versions before it was written. */
  process: z.object({ pid: z.number().int(), start: z.string().nullable(), boot: z.string().nullable() }).optional(),
  /** The process that starts and restarts it. */
  supervisor: z.number().int(),
  unconfined: z.string().optional(),
});
export type EndpointFile = z.infer<typeof fileSchema>;

export function writeEndpoint(paths: EmbeddedPaths, endpoint: EndpointFile): void {
  writeFileAtomicSync(paths.endpoint, `${JSON.stringify(endpoint, null, 2)}\n`);
}

/** Removes the file, unless another server has replaced it. */
export function removeEndpoint(paths: EmbeddedPaths, pid: number): void {
  if (readEndpointFile(paths)?.pid === pid) rmSync(paths.endpoint, { force: true });
}

export function readEndpointFile(paths: EmbeddedPaths): EndpointFile | undefined {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(paths.endpoint, 'utf8')));
  } catch {
    return undefined;
  }
}

/**
 * Kills the folder's server if it is still running although its supervisor is not, which loses no acknowledged data: a
 * server that does not hang stops by itself when its supervisor is killed. Only where the operating system reports when a
 * process started, since PIDs are reused. Resolves when it has ended, at the latest after `withinMs`.
 */
export async function killOrphan(dataFolder: string, withinMs: number): Promise<void> {
  const file = readEndpointFile(embeddedPaths(dataFolder));
  if (!file?.process?.start || isRunning(file.supervisor) || !isAlive(file.process)) return;
  try {
    process.kill(file.pid, 'SIGKILL');
  } catch {
    return;
  }
  const endsAt = performance.now() + withinMs;
  while (isAlive(file.process) && performance.now() < endsAt) await setTimeout(10);
}

/** Loopback ports that a server listens on. */
export interface ServerPorts {
  readonly http: number;
  /** Port of the native protocol; undefined while it is off. */
  readonly tcp?: number | undefined;
}

/** What is known of the folder's last server before it responds. */
export interface LastServer extends ServerPorts {
  /** The process that started it; undefined after it was stopped cleanly. */
  readonly supervisor?: number | undefined;
}

const lastServerSchema = z.object({
  http: z.number().int(),
  tcp: z.number().int().optional(),
  supervisor: z.number().int().optional(),
});

export function writeLastServer(paths: EmbeddedPaths, server: LastServer): void {
  writeFileAtomicSync(paths.ports, `${JSON.stringify(server)}\n`);
}

/** The folder's last server; undefined without one. */
export function readLastServer(paths: EmbeddedPaths): LastServer | undefined {
  try {
    return lastServerSchema.parse(JSON.parse(readFileSync(paths.ports, 'utf8')));
  } catch {
    return undefined;
  }
}

/** More than a busy server needs for `SELECT 1`. */
const FIND_TIMEOUT_MS = 20_000;

/**
 * The running embedded server of a data folder, for other processes of the same user. Undefined without one; the file of
 * a killed server is ignored: its process must be running and accept the folder's password.
 * @throws UsageError when the folder's passwords cannot be read; UnavailableError when the server runs and does not respond
 */
export async function findEmbedded(
  dataFolder: string,
  timeoutMs = FIND_TIMEOUT_MS,
): Promise<EmbeddedEndpoint | undefined> {
  const paths = embeddedPaths(dataFolder);
  const file = readEndpointFile(paths);
  if (!file || !isRunning(file.pid)) return undefined;
  const endpoint = toEndpoint(file, readCredentials(paths));
  const outcome = await responds(endpoint.owner, 'SELECT 1', '1', timeoutMs);
  if (outcome !== 'timeout') return outcome ? endpoint : undefined;
  throw new UnavailableError(
    `ClickHouse on ${dataFolder} (process ${file.pid}) did not respond within ${timeoutMs / 1000} s; try again later, ` +
      'or restart it',
  );
}

export function toEndpoint(file: EndpointFile, credentials: { owner: string; reader: string }): EmbeddedEndpoint {
  const login = (user: 'owner' | 'reader') => ({ url: file.url, user, password: new Secret(credentials[user]) });
  return { ...file, owner: login('owner'), reader: login('reader') };
}

/**
 * URL of the web console with user and password filled in (the page removes the password from the address bar): print it
 * to the terminal only, never log it.
 */
export function consoleUrl(endpoint: EmbeddedEndpoint): string {
  return `${endpoint.url}/play?user=reader&password=${encodeURIComponent(endpoint.reader.password.reveal())}`;
}

/** Whether a ClickHouse server at this URL accepts this login and returns `expected` for the query within 2 s. */
export async function answers(endpoint: ClickHouseEndpoint, query = 'SELECT 1', expected = '1'): Promise<boolean> {
  return (await responds(endpoint, query, expected, 2000)) === true;
}

async function responds(
  endpoint: ClickHouseEndpoint,
  query: string,
  expected: string,
  timeoutMs: number,
): Promise<boolean | 'timeout'> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(`${endpoint.url}/?query=${encodeURIComponent(query)}`, {
      headers: {
        'X-ClickHouse-User': endpoint.user,
        'X-ClickHouse-Key': endpoint.password.reveal(),
        connection: 'close',
      },
      signal,
    });
    return response.ok && (await response.text()).trim() === expected;
  } catch {
    return signal.aborted && 'timeout';
  }
}
