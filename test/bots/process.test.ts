import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BotsProcess } from '../../bots/index.js';
import { createLogger, isRunning, systemClock, UsageError } from '../../core/index.js';
import type { ReadyLine } from '../../exchange/index.js';
import { Part } from '../support/part.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const SMALL = ['--port', '0', '--events', '2', '--bots', '8', '--pace', '4'];

interface Truth {
  readonly accounts: readonly { readonly userId: string }[];
  readonly identity: { readonly deposits: number; readonly balanced: boolean };
}

/** `chancery exchange` with its bots, from the compiled command. */
async function exchange(...flags: string[]) {
  const part = await Part.start<ReadyLine>('exchange', [...SMALL, ...flags]);
  onTestFinished(() => part.kill9());
  const { url, token } = part.ready.control;
  const control = async (path: string) => {
    const answer = await fetch(`${url}${path}`, { headers: { 'x-control-token': token } });
    return answer.text();
  };
  return {
    part,
    truth: async () => JSON.parse(await control('/truth')) as Truth,
    fills: async () => (await control('/truth/trades?after=0')).split('\n').length - 1,
    /** Process IDs of its children. */
    children: () => {
      const text = readFileSync(`/proc/${part.pid}/task/${part.pid}/children`, 'utf8');
      return text.split(' ').filter(Boolean).map(Number);
    },
  };
}

describe('the bots of chancery exchange', { timeout: 90_000 }, () => {
  it('trade in a child of their own, which is started again when it is killed, and ends with the exchange', async () => {
    const { part, fills, children, truth } = await exchange();
    await until(async () => (await fills()) > 5);
    const [child = 0, ...others] = children();
    expect(others).toEqual([]);
    process.kill(child, 'SIGKILL');
    await until(() => children().some((pid) => pid !== child));
    const before = await fills();
    await until(async () => (await fills()) > before + 5);
    expect(part.stderr).toContain('the bots ended; they are started again');
    expect((await truth()).identity.balanced).toBe(true);
    const [again = 0] = children();
    expect(await part.stop()).toBe(0);
    expect(isRunning(again)).toBe(false);
  });

  it('are gone after a kill -9 of the exchange, and go on with accounts and open orders when it is back', async () => {
    const data = temporaryFolder();
    const first = await exchange('--data', data, '--print-bots');
    await until(async () => (await first.fills()) > 10);
    const [child = 0] = first.children();
    const fills = await first.fills();
    await first.part.kill9();
    await until(() => !isRunning(child));
    const second = await exchange('--data', data, '--print-bots');
    expect(second.part.ready.bots).toEqual(first.part.ready.bots);
    await until(async () => (await second.fills()) > fills + 10);
    const { accounts, identity } = await second.truth();
    expect(identity).toMatchObject({ balanced: true, deposits: 8 * 1_000_000 + 3 * 10_000 });
    expect(accounts.length).toBe(8 + 3);
  });

  it('are not there with --bots 0, nor at pace 0', async () => {
    for (const quiet of [
      ['--bots', '0'],
      ['--pace', '0'],
    ]) {
      const { children, fills, part } = await exchange(...quiet);
      expect(children()).toEqual([]);
      expect(await fills()).toBe(0);
      expect(await part.stop()).toBe(0);
    }
  });

  it('do not start where clients want TLS, and say so in one line', async () => {
    const log = createLogger({ part: 'bots', level: 'error' });
    const from = { url: 'http://192.0.2.1:9100', seed: 1, pace: 1, accounts: [], fairValues: () => new Map() };
    const bots = new BotsProcess({ ...from, clock: systemClock, log });
    await expect(bots.start()).rejects.toThrow(
      new UsageError('bots cannot trade at 192.0.2.1: use --host 127.0.0.1 or 0.0.0.0, or --bots 0'),
    );
  });

  it('get their keys where nobody else can read them', async () => {
    const shown = await exchange('--print-bots', '--pace', '0');
    const secrets = (shown.part.ready.bots ?? []).flatMap(({ apiKey, apiSecret }) => [apiKey, apiSecret]);
    expect(secrets).toHaveLength(16);
    const { part, children, fills } = await exchange();
    await until(async () => (await fills()) > 0);
    const [child] = children();
    const open = ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${child}/${name}`, 'utf8')).join('\n');
    const said = `${JSON.stringify(part.ready)}\n${part.stderr}\n${open}`;
    expect(secrets.filter((secret) => said.includes(secret))).toEqual([]);
  });
});
