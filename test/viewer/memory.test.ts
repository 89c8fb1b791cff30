import { Agent, type ClientRequest, get, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { peakBytes, resetPeak } from '../../bench/process-usage.js';
import { atEnd } from '../support/at-end.js';
import { useDatabase } from '../support/database.js';
import { ServiceProcess } from '../support/service-process.js';
import { DATABASES } from '../support/services/shared-clickhouse.js';
import { dashboard, folderOf, panel } from './dashboards.js';
import type { ViewerProcessOptions } from './viewer-process.js';
import { view } from './viewer-rig.js';

const MAX_BYTES = 200e6;
const VIEWERS = 200;
const SLOW_CLIENTS = 40;
const RELOADS = 150;
const RELOAD_MS = 20;
const TEXTS = 1;
const SERIES = 2;
const WHOLE = 3;
const STATS = [4, 5, 6, 7, 8, 9];

const host = useDatabase({ migrated: false });
const files = () => ({
  'a.json': dashboard('attacked', [
    // What it returns depends on the range: viewers of different ranges do not share it. Nearly as large as allowed.
    panel(TEXTS, 'table', "SELECT number, repeat('x', 900) AS text FROM numbers(4000) WHERE $__fromTime > 0"),
    panel(
      SERIES,
      'timeseries',
      'SELECT addMilliseconds(toDateTime64($__fromTime, 3), 50 * number) AS time, rand() AS a, rand() AS b FROM numbers(49000)',
      {
        fieldConfig: { defaults: { custom: { stacking: { mode: 'normal' } } }, overrides: [] },
      },
    ),
    panel(WHOLE, 'table', 'SELECT number, randomPrintableASCII(900) AS text FROM numbers(40000) WHERE $__fromTime > 0'),
    ...STATS.map((id) => panel(id, 'stat', `SELECT ${id} + rand() AS n`)),
  ]),
});

let server: ServiceProcess & { readonly ready: { readonly url: string } };
beforeAll(async () => {
  const { name, reader } = host.database;
  const options: ViewerProcessOptions = {
    ...{ dashboards: folderOf(files()), databases: [DATABASES] },
    ...{ url: reader.url, user: reader.user, password: reader.password.reveal(), database: name },
  };
  server = await ServiceProcess.startScript('test/viewer/viewer-process.js', [JSON.stringify(options)]);
  atEnd(() => server.stop());
});

function post(id: number, part: string, body: unknown, agent?: Agent): ClientRequest {
  const outgoing = request(`${server.ready.url}/api/dashboards/attacked/panels/${id}/${part}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(agent ? { 'accept-encoding': 'gzip' } : {}) },
    ...(agent ? { agent } : {}),
  });
  outgoing.on('error', () => undefined);
  outgoing.end(JSON.stringify(body));
  return outgoing;
}

/** Resolves with the status when everything is read. */
const read = (outgoing: ClientRequest) =>
  new Promise<number>((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (incoming: IncomingMessage) => {
      incoming.resume();
      incoming.on('end', () => resolve(incoming.statusCode ?? 0));
      incoming.on('error', reject);
    });
  });

const rangeOf = (n: number) => ({ from: `now-${n + 1}h`, to: 'now' });
const peak = () => peakBytes(server.pid);

describe('the memory of the viewer stays below 200 MB', () => {
  it('with 200 viewers of one dashboard', async () => {
    const agents = Array.from({ length: VIEWERS }, () => new Agent({ keepAlive: true, maxSockets: 2 }));
    atEnd(() => {
      for (const agent of agents) agent.destroy();
    });
    for (let refresh = 0; refresh < 2; refresh++) {
      const body = { ...view({}, rangeOf(refresh)), refreshMs: 10_000 };
      const all = agents.flatMap((agent) => [TEXTS, SERIES, ...STATS].map((id) => read(post(id, 'data', body, agent))));
      expect(new Set(await Promise.all(all))).toEqual(new Set([200]));
    }
    expect(peak()).toBeLessThan(MAX_BYTES);
  });

  it('with a page that reloads 50 times a second, each time with another range', async () => {
    resetPeak(server.pid);
    for (let i = 0; i < RELOADS; i++) {
      const body = view({}, rangeOf(i));
      const asked = [TEXTS, SERIES, ...STATS].map((id) => post(id, 'data', body));
      get(`${server.ready.url}/app.js`, (incoming) => incoming.resume());
      await delay(RELOAD_MS);
      for (const outgoing of asked) outgoing.destroy();
    }
    expect(peak()).toBeLessThan(MAX_BYTES);
  });

  it('with clients that read nothing of what they ask for, also of downloads', async () => {
    resetPeak(server.pid);
    const slow = Array.from({ length: SLOW_CLIENTS }, (_, i) => {
      const isDownload = i % 10 === 0;
      const body = view({}, rangeOf(i));
      const outgoing = isDownload
        ? post(WHOLE, 'export', { ...body, format: i % 20 === 0 ? 'csv' : 'parquet' })
        : post(TEXTS, 'data', body);
      return new Promise<void>((resolve) => {
        outgoing.on('response', (incoming: IncomingMessage) => {
          incoming.pause();
          resolve();
        });
        outgoing.on('close', resolve);
        atEnd(() => void outgoing.destroy());
      });
    });
    await Promise.all(slow);
    expect(await read(post(STATS[0] ?? 0, 'data', view()))).toBe(200);
    expect(peak()).toBeLessThan(MAX_BYTES);
  });
});
