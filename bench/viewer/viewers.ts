import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../test/support/until.js';
import { SEEDED_NOW_MS } from '../../test/viewer/seeded-market.js';
import { dashboardFolder } from '../../viewer/index.js';
import type { ResolvedVariable } from '../../viewer/variables.js';
import type { BenchFigure } from '../bench.js';
import type { ViewerRig } from './rig.js';

const DASHBOARD = 'chancery-market-overview';
const REFRESH_MS = 10_000;
const AFTER_CLOSE_MS = 1000;
/** Of a browser to one address. */
const CONNECTIONS = 6;

/** Clients that show the same dashboard: what ClickHouse is asked in one refresh interval, and what is left when they have gone. */
export async function measureViewers(rig: ViewerRig, viewers: number): Promise<BenchFigure[]> {
  let nowMs = SEEDED_NOW_MS;
  const viewer = await rig.view(dashboardFolder(), () => nowMs);
  const url = `${viewer.url}/api/dashboards/${DASHBOARD}`;
  const agents = Array.from({ length: viewers }, () => new Agent({ keepAlive: true, maxSockets: CONNECTIONS }));
  const [first] = agents;
  if (!first) throw new Error('there is no viewer');
  const { panels } = JSON.parse(await ask(first, url)) as { panels: { id: number; type: string }[] };
  const view = { from: 'now-30m', to: 'now', variables: {}, refreshMs: REFRESH_MS };
  const resolved = JSON.parse(await ask(first, `${url}/variables`, view)) as ResolvedVariable[];
  const variables = Object.fromEntries(
    resolved.filter(({ hidden }) => !hidden).map(({ name, value }) => [name, value]),
  );
  const drawn = panels.filter(({ type }) => type !== 'row' && type !== 'text');
  const body = { ...view, variables, width: 600 };
  const refresh = async (all: readonly Agent[]) => {
    nowMs += REFRESH_MS;
    const before = rig.queries;
    const began = performance.now();
    await Promise.all(all.flatMap((agent) => drawn.map(({ id }) => ask(agent, `${url}/panels/${id}/data`, body))));
    return { queries: rig.queries - before, ms: Math.round(performance.now() - began) };
  };
  const alone = await refresh([first]);
  const together = await refresh(agents);
  nowMs += REFRESH_MS;
  const left = agents.flatMap((agent) =>
    drawn.map(({ id }) => ask(agent, `${url}/panels/${id}/data`, body).catch(() => '')),
  );
  await until(async () => (await rig.running()) > 0);
  for (const agent of agents) agent.destroy();
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

function ask(agent: Agent, url: string, body?: unknown): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const method = sent === undefined ? 'GET' : 'POST';
    const outgoing = request(url, { method, agent, headers: { 'content-type': 'application/json' } }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (incoming.statusCode === 200) resolve(text);
        else reject(new Error(`${url}: ${incoming.statusCode} ${text}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(sent);
  });
}
