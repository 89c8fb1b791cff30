import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../test/support/until.js';
import { SEEDED_NOW_MS } from '../../test/viewer/seeded-market.js';
import { dashboardFolder } from '../../viewer/index.js';
import type { BenchFigure } from '../bench.js';
import type { ViewerRig } from './rig.js';
import { openDashboard, ViewerClient } from './viewer-client.js';

const DASHBOARD = 'chancery-market-overview';
const REFRESH_MS = 10_000;
const AFTER_CLOSE_MS = 1000;

/** Clients that show the same dashboard: what ClickHouse is asked in one refresh interval, and what is left when they have gone. */
export async function measureViewers(rig: ViewerRig, viewers: number): Promise<BenchFigure[]> {
  let nowMs = SEEDED_NOW_MS;
  let queries = 0;
  const viewer = await rig.view(
    dashboardFolder(),
    () => nowMs,
    () => {
      queries++;
    },
  );
  const clients = Array.from({ length: viewers }, () => new ViewerClient(viewer.url));
  const [first] = clients;
  if (!first) throw new Error('there is no viewer');
  const { path, view, panels } = await openDashboard(first, DASHBOARD, { from: 'now-30m', refreshMs: REFRESH_MS });
  const body = { ...view, width: 600 };
  const panelsOf = (client: ViewerClient) => panels.map((id) => client.ask(`${path}/panels/${id}/data`, body));
  const refresh = async (all: readonly ViewerClient[]) => {
    nowMs += REFRESH_MS;
    const before = queries;
    const began = performance.now();
    await Promise.all(all.flatMap(panelsOf));
    return { queries: queries - before, ms: Math.round(performance.now() - began) };
  };
  const alone = await refresh([first]);
  const together = await refresh(clients);
  nowMs += REFRESH_MS;
  const left = clients.flatMap(panelsOf).map((asked) => asked.catch(() => ''));
  await until(async () => (await rig.running()) > 0);
  for (const client of clients) client.close();
  await Promise.all(left);
  await delay(AFTER_CLOSE_MS);
  return [
    { name: 'one viewer, queries of a refresh', value: alone.queries, unit: 'queries' },
    { name: `${viewers} viewers, queries of a refresh`, value: together.queries, unit: 'queries' },
    { name: `${viewers} viewers, until all have all panels`, value: together.ms, unit: 'ms' },
    {
      name: 'queries one second after the last viewer left',
      value: (await rig.running()) + viewer.running,
      unit: 'queries',
    },
  ];
}
