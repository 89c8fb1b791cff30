import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { openDashboard, type ViewedPage, ViewerClient } from './viewer-client.js';

/**
 * Clients that do what open pages of one dashboard do, in a process of their own: all panels at every refresh, those that show the
 * present as often as the viewer says, and the stream of the state of recording. Arguments: address of the viewer, number of
 * clients, UID of the dashboard. It prints a ready line when each has been refreshed once, and at its end the number of answers.
 */

const [url = '', count = '0', uid = ''] = process.argv.slice(2);
const RANGE = { from: 'now-30m', refreshMs: 10_000 };
const WIDTH = 600;
const AFTER_SLICE_MS = 50;
/** Pages differ in when they ask, by this fraction of the interval. */
const SPREAD = 0.1;
const GZIP = { 'accept-encoding': 'gzip' };

let answers = 0;
let failures = 0;
const ended = new AbortController();
// Each client waits for its next refresh, and for those of its panels.
setMaxListeners(0, ended.signal);

const untilNext = (intervalMs: number, share: number) =>
  delay(intervalMs - (Date.now() % intervalMs) + AFTER_SLICE_MS + share * SPREAD * intervalMs, undefined, {
    signal: ended.signal,
  });

async function panel(client: ViewerClient, page: ViewedPage, id: number): Promise<number> {
  const body = { ...page.view, width: WIDTH };
  const text = await client.ask(`${page.path}/panels/${id}/data`, body, GZIP);
  answers++;
  // Panels that show the present are small, and not compressed.
  return Number(/"refreshMs":(\d+)/.exec(text)?.[1] ?? page.refreshMs);
}

async function refresh(client: ViewerClient, page: ViewedPage): Promise<Map<number, number>> {
  const intervals = new Map<number, number>();
  await client.ask(`${page.path}/variables`, page.view, GZIP);
  await Promise.all(page.panels.map(async (id) => intervals.set(id, await panel(client, page, id))));
  await client.ask(`${page.path}/annotations`, page.view, GZIP);
  return intervals;
}

async function view(client: ViewerClient, page: ViewedPage, share: number, onRefreshed: () => void): Promise<void> {
  await client.follow();
  const live = new Map<number, number>();
  const followed = new Set<number>();
  const follow = async (id: number) => {
    followed.add(id);
    for (let ms = live.get(id) ?? 0; ms > 0 && ms < page.refreshMs; ) {
      await untilNext(ms, share);
      ms = await panel(client, page, id);
    }
    followed.delete(id);
  };
  while (!ended.signal.aborted) {
    for (const [id, ms] of await refresh(client, page)) {
      live.set(id, ms);
      if (ms < page.refreshMs && !followed.has(id)) void follow(id).catch(fail);
    }
    onRefreshed();
    await untilNext(page.refreshMs, share);
  }
}

function fail(error: unknown): void {
  if (ended.signal.aborted) return;
  failures++;
  process.stderr.write(`a client failed: ${String(error)}\n`);
}

const clients = Array.from({ length: Number(count) }, () => new ViewerClient(url));
const [first] = clients;
if (!first) throw new Error('there is no client');
const page = await openDashboard(first, uid, RANGE);
const refreshed = clients.map(
  (client, i) =>
    new Promise<void>((resolve) => {
      void view(client, page, i / clients.length, resolve)
        .catch(fail)
        .finally(resolve);
    }),
);
process.on('SIGTERM', () => {
  ended.abort();
  for (const client of clients) client.close();
  process.stdout.write(`${JSON.stringify({ answers, failures })}\n`, () => process.exit(failures > 0 ? 1 : 0));
});
await Promise.all(refreshed);
process.stdout.write(`${JSON.stringify({ panels: page.panels.length, answers })}\n`);
