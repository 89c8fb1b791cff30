import { onTestFinished } from 'vitest';
import { createLogger } from '../../core/index.js';
import { type RunningExchange, startExchange } from '../../exchange/index.js';

/** A real exchange for one test, quiet, with as many events of one to three markets, opened by the control calls. */
export async function exchangeWithEvents(options: Record<string, unknown>, events: number) {
  const running = await startExchange(
    { port: 0, events: 0, bots: 0, pace: 0, ...options },
    { log: createLogger({ part: 'exchange', level: 'error' }) },
  );
  onTestFinished(() => running.close());
  const categories = (await (await fetch(`${running.ready.url}/api/categories`)).json()) as { s: string }[];
  const category = categories[0]?.s;
  for (let n = 0; n < events; n++) {
    const markets = Array.from({ length: 1 + (n % 3) }, (_, m) => ({ name: `market ${m}`, chance: 0.25 + 0.05 * n }));
    await control(running, 'events', { title: `Event ${n}`, category, tags: [`tag-${n % 4}`], markets });
  }
  return { running, addresses: { base: running.ready.url } };
}

/** A control call; throws when it is refused. */
export async function control(running: RunningExchange, path: string, body: Record<string, unknown>): Promise<void> {
  const { url, token } = running.ready.control;
  const headers = { 'X-Control-Token': token };
  const response = await fetch(`${url}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
}
