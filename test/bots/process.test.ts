import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { BotsProcess } from '../../bots/index.js';
import { createLogger, isRunning, systemClock, UsageError } from '../../core/index.js';
import { concurrentIt as it } from '../support/at-end.js';
import { startTestExchange, type TestExchangeProcessOptions } from '../support/exchange.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const SMALL = { ownProcess: true, events: 2, accounts: 3, bots: 8, pace: 4 } as const;

interface Truth {
  readonly accounts: readonly { readonly userId: string }[];
  readonly identity: { readonly deposits: number; readonly balanced: boolean };
}

/** `chancery exchange` with its bots, from the compiled command. */
async function exchange(options: TestExchangeProcessOptions = {}) {
  const { service, ready, control } = await startTestExchange({ ...SMALL, ...options });
  return {
    service,
    ready,
    truth: async (): Promise<Truth> => (await control('GET', '/truth')).body,
    fills: async () => (await control('GET', '/truth/trades?after=0')).text.split('\n').length - 1,
    /** Process IDs of its children. */
    children: () => {
      const text = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8');
      return text.split(' ').filter(Boolean).map(Number);
    },
  };
}

describe.concurrent('the bots of chancery exchange', () => {
  it('trade in a child process, which is restarted when it is killed, exits with the exchange, and never shows its keys', async () => {
    const { service, ready, fills, children, truth } = await exchange();
    await until(async () => (await fills()) > 5);
    const [child = 0, ...others] = children();
    expect(others).toEqual([]);
    const readable = ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${child}/${name}`, 'utf8')).join('\n');
    process.kill(child, 'SIGKILL');
    await until(() => children().some((pid) => pid !== child));
    const before = await fills();
    await until(async () => (await fills()) > before + 5);
    expect(service.stderr).toContain('the bots ended; they are started again');
    expect((await truth()).identity.balanced).toBe(true);
    const [again = 0] = children();
    expect(await service.stop()).toBe(0);
    expect(isRunning(again)).toBe(false);
    // The same seed gives the same keys.
    const { core } = await startTestExchange({ events: 0, bots: SMALL.bots });
    const secrets = core.botAccounts().flatMap(({ apiKey, apiSecret }) => [apiKey, apiSecret]);
    expect(secrets).toHaveLength(2 * SMALL.bots);
    const said = `${JSON.stringify(ready)}\n${service.stderr}\n${readable}`;
    expect(secrets.filter((secret) => said.includes(secret))).toEqual([]);
  });

  it('exit after a kill -9 of the exchange, and resume with their accounts and open orders when it is back', async () => {
    const data = temporaryFolder();
    const first = await exchange({ data, printBots: true });
    await until(async () => (await first.fills()) > 10);
    const [child = 0] = first.children();
    const fills = await first.fills();
    await first.service.kill9();
    await until(() => !isRunning(child));
    const second = await exchange({ data, printBots: true });
    expect(second.ready.bots).toEqual(first.ready.bots);
    await until(async () => (await second.fills()) > fills + 10);
    const { accounts, identity } = await second.truth();
    expect(identity).toMatchObject({ balanced: true, deposits: 8 * 1_000_000 + 3 * 10_000 });
    expect(accounts.length).toBe(8 + 3);
  });

  it('are not there with --bots 0, nor at pace 0', async () => {
    const quiet = await Promise.all([exchange({ bots: 0 }), exchange({ pace: 0 })]);
    for (const { children, fills, service } of quiet) {
      expect(children()).toEqual([]);
      expect(await fills()).toBe(0);
      expect(await service.stop()).toBe(0);
    }
  });

  it('do not start where clients want TLS, and say so in one line', async () => {
    const log = createLogger({ service: 'bots', level: 'error' });
    const from = { url: 'http://192.0.2.1:9100', seed: 1, pace: 1, accounts: [], fairValues: () => new Map() };
    const bots = new BotsProcess({ ...from, clock: systemClock, log });
    await expect(bots.start()).rejects.toThrow(
      new UsageError('bots cannot trade at 192.0.2.1: use --host 127.0.0.1 or 0.0.0.0, or --bots 0'),
    );
  });
});
