import { readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { isRunning, Secret, writeFileAtomicSync } from '../../core/index.js';
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
  /** Port of the native protocol on loopback; undefined while it is closed. */
  readonly tcpPort?: number | undefined;
  readonly pid: number;
  /** The Chancery process that starts and restarts it. */
  readonly supervisor: number;
  /** Chancery's own user: may do everything. */
  readonly owner: ClickHouseEndpoint;
  /** For users and dashboards: read only, in Chancery's database, with limits. */
  readonly reader: ClickHouseEndpoint;
}

const fileSchema = z.object({
  url: z.url(),
  tcpPort: z.number().int().optional(),
  pid: z.number().int(),
  /** The process that starts and restarts it. */
  supervisor: z.number().int(),
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

/** Loopback ports that a server listens on. */
export interface ServerPorts {
  readonly http: number;
  /** Port of the native protocol; undefined while it is closed. */
  readonly tcp?: number | undefined;
}

/** The ports of the folder's last server; undefined without one. */
export function readPorts(paths: EmbeddedPaths): ServerPorts | undefined {
  try {
    return z
      .object({ http: z.number().int(), tcp: z.number().int().optional() })
      .parse(JSON.parse(readFileSync(paths.ports, 'utf8')));
  } catch {
    return undefined;
  }
}

/**
 * The running embedded server of a data folder, for other processes of the same user. Undefined without one; the file of
 * a killed server is ignored: its process must be running and accept the folder's password.
 * @throws UsageError when the folder's passwords cannot be read
 */
export async function findEmbedded(dataFolder: string): Promise<EmbeddedEndpoint | undefined> {
  const paths = embeddedPaths(dataFolder);
  const file = readEndpointFile(paths);
  if (!file || !isRunning(file.pid)) return undefined;
  const endpoint = toEndpoint(file, readCredentials(paths));
  return (await answers(endpoint.owner)) ? endpoint : undefined;
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

/** Whether a ClickHouse server at this URL accepts this login and returns `expected` for the query. */
export async function answers(endpoint: ClickHouseEndpoint, query = 'SELECT 1', expected = '1'): Promise<boolean> {
  try {
    const response = await fetch(`${endpoint.url}/?query=${encodeURIComponent(query)}`, {
      headers: {
        'X-ClickHouse-User': endpoint.user,
        'X-ClickHouse-Key': endpoint.password.reveal(),
        connection: 'close',
      },
      signal: AbortSignal.timeout(2000),
    });
    return response.ok && (await response.text()).trim() === expected;
  } catch {
    return false;
  }
}
