import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { rows, startUp } from './start-up.js';

const SEEN = `SELECT account, uniqExact(poll_id) AS polls FROM account_pages WHERE operation = 'full-balances'
  AND received_at > fromUnixTimestamp64Milli(toInt64(SINCE)) GROUP BY account ORDER BY account`;

describe('the accounts of the simulated exchange', () => {
  it('are recorded by chancery up, also after a restart, and their secrets stay in one private file', async () => {
    const data = temporaryFolder();
    for (let round = 0; round < 2; round++) {
      const since = Date.now();
      const up = startUp(data);
      await up.line(/^ready in /);
      const file = join(data, 'exchange-accounts.json');
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const accounts = JSON.parse(readFileSync(file, 'utf8')) as Record<
        string,
        { apiSecret: string; password: string }
      >;
      expect(Object.keys(accounts).slice(0, 3)).toEqual(['account-1', 'account-2', 'account-3']);
      expect(Object.keys(accounts).slice(3), 'a bot, which trades').toHaveLength(1);
      let seen: { account: string }[] = [];
      while (seen.length < 4) {
        await setTimeout(100);
        seen = await rows<{ account: string }>(data, SEEN.replace('SINCE', String(since)));
      }
      expect(seen.map(({ account }) => account)).toEqual(Object.keys(accounts).sort());
      up.child.kill('SIGINT');
      expect(await up.exited).toBe(0);
      const logs = readdirSync(join(data, 'logs')).map((name) => readFileSync(join(data, 'logs', name), 'utf8'));
      const told = [...logs, ...up.lines].join('\n');
      for (const { apiSecret, password } of Object.values(accounts)) {
        expect(told.includes(apiSecret) || told.includes(password)).toBe(false);
      }
    }
  });
});
