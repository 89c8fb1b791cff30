import { request } from 'node:http';
import { createLogger, systemClock } from '../../core/index.js';
import { type ViewerOptions, ViewerServer } from '../../viewer/index.js';
import { atEnd } from '../support/at-end.js';
import type { TestDatabase } from '../support/database.js';
import { DATABASES } from '../support/services/shared-clickhouse.js';
import { connectWith } from './viewer-connection.js';

/** It ends what hangs; the machine may be slow. */
const MAX_QUERY_S = 60;

export const connectAs = (database: TestDatabase, as: 'owner' | 'reader') =>
  connectWith({ ...database[as], database: database.name }, 2000 * MAX_QUERY_S);

/** A viewer of this database, on a free port, until the test file has ended. */
export async function startViewer(
  database: TestDatabase,
  dashboards: string,
  options: Partial<
    Pick<
      ViewerOptions,
      'token' | 'host' | 'publicUrl' | 'databases' | 'connect' | 'consoleUrl' | 'clock' | 'readWithinMs'
    >
  > = {},
): Promise<ViewerServer> {
  const viewer = new ViewerServer({
    host: '127.0.0.1',
    port: 0,
    dashboards,
    databases: [DATABASES],
    maxQuerySeconds: MAX_QUERY_S,
    clock: systemClock,
    log: createLogger({ service: 'view', level: 'fatal' }),
    connect: connectAs(database, 'reader'),
    ...options,
  });
  await viewer.start();
  atEnd(() => viewer.stop());
  return viewer;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A request with exactly these headers, as a page of any origin, or a program, may send it. */
export function ask(
  url: string,
  { headers = {}, body }: { readonly headers?: Record<string, string>; readonly body?: unknown } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const outgoing = request(
      url,
      { method: sent === undefined ? 'GET' : 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(sent);
  });
}

export const view = (variables: Record<string, string[]> = {}, range = { from: 'now-1h', to: 'now' }) => ({
  ...range,
  variables,
  refreshMs: 0,
  width: 600,
});
