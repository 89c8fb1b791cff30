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
  /** The Chancery process that started it and starts it again. */
  readonly supervisor: number;
  /** Chancery's own user: may do everything. */
  readonly owner: ClickHouseEndpoint;
  /** For people and dashboards: read only, our database only, limited. */
  readonly reader: ClickHouseEndpoint;
}

const fileSchema = z.object({
  url: z.url(),
  tcpPort: z.number().int().optional(),
  pid: z.number().int(),
  /** The process that started it and starts it again. */
  supervisor: z.number().int(),
});
export type EndpointFile = z.infer<typeof fileSchema>;

export function writeEndpoint(paths: EmbeddedPaths, endpoint: EndpointFile): void {
  writeFileAtomicSync(paths.endpoint, `${JSON.stringify(endpoint, null, 2)}\n`);
}

/** Removes the file, unless another server's data is in it by now. */
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
  /** Of the native protocol; undefined when it is closed. */
  readonly tcp?: number | undefined;
}

/** The ports that the server of this folder had last; undefined when there was none. */
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
 * The embedded server that runs on a data folder, for other processes of the same user. Undefined when none runs; a
 * file that a killed server left behind does not count: its process must live and answer to the folder's password.
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
 * Address of the web console with its fields filled in. It holds the reader's password (the page takes it out of the
 * address bar at once): show it to the person at the terminal only, never log it.
 */
export function consoleUrl(endpoint: EmbeddedEndpoint): string {
  return `${endpoint.url}/play?user=reader&password=${encodeURIComponent(endpoint.reader.password.reveal())}`;
}

/** Whether a ClickHouse server at this address lets this user in and answers the query with `expected`. */
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
