import { ExchangeClient } from '../../client/index.js';
import { describeError, exchangeAddresses, type SettingName, type Settings } from '../../core/index.js';
import { runningServices } from '../service/registry.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';

/** The exchange rejects signed requests whose clock is off by 30 s; chance points of the last seconds are wrong long before. */
const CLOCK_TOLERANCE_MS = 5000;

/** Whether the exchange responds, and whether its clock and ours agree. */
export function exchangeChecks(settings: Settings, given: ReadonlySet<SettingName>): Check[] {
  const answer = queriedOnce(settings, given);
  return [
    { name: 'exchange', run: async () => (await answer()).exchange },
    { name: 'clock', run: async () => (await answer()).clock },
  ];
}

function queriedOnce(settings: Settings, given: ReadonlySet<SettingName>) {
  let asked: Promise<{ exchange: Finding; clock: Finding }> | undefined;
  return () => {
    asked ??= askExchange(settings, given);
    return asked;
  };
}

async function askExchange(settings: Settings, given: ReadonlySet<SettingName>) {
  const running = runningServices(settings.data).find((service) => service.service === 'exchange')?.address;
  if (!given.has('exchangeUrl') && running === undefined) {
    const exchange = ok('none configured: `chancery up` starts a simulated one; --exchange-url names a real one');
    return { exchange, clock: ok(`${new Date().toISOString()}; not compared, because no exchange is configured`) };
  }
  const addresses = exchangeAddresses(
    given.has('exchangeUrl') ? settings : { ...settings, exchangeUrl: running ?? '' },
  );
  const client = new ExchangeClient({ addresses, timeoutMs: Math.min(settings.requestTimeoutMs, 5000), attempts: 1 });
  const startedAt = Date.now();
  try {
    const { items, response } = await client.coins();
    const tookMs = Date.now() - startedAt;
    return {
      exchange: ok(`${addresses.base} responds in ${tookMs} ms with ${items.length} coins`),
      clock: compareClocks(response.headers['date'], startedAt + tookMs / 2),
    };
  } catch (error) {
    const fix = 'check --exchange-url and the network';
    return { exchange: fail(describeError(error), fix), clock: warn('the exchange did not send its time', fix) };
  } finally {
    await client.close();
  }
}

function compareClocks(date: string | undefined, nowMs: number): Finding {
  if (date === undefined) return ok('the exchange sends no time');
  // The header has whole seconds: on average its time is half a second later.
  const aheadMs = nowMs - (Date.parse(date) + 500);
  const found = `${Math.abs(aheadMs / 1000).toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the exchange's`;
  return Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS ? ok(found) : warn(found, 'synchronise the clock with NTP');
}
