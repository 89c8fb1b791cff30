import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeExchangeAccounts } from '../../cli/up/exchange-accounts.js';
import { atEnd } from '../support/at-end.js';
import { startTestExchange } from '../support/exchange.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { certificateOf, certify } from './command.js';

/** The plan of this seed has faults of every stream, and kills ClickHouse and the collector. */
const PLAN = ['--faults', '--seed', '608', '--minutes', '0.6'];

/** Of all processes that can be seen. */
const commandLines = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
      } catch {
        return [];
      }
    });

test('chancery certify certifies a running exchange with accounts, faults and kills, and does not show the token to others', async () => {
  const world = { ownProcess: true, endedBy: 'caller', events: 8, bots: 8, pace: 2, printBots: true } as const;
  const exchange = await startTestExchange(world);
  atEnd(async () => void (await exchange.stop()));
  const { url, control, bots = [] } = exchange.ready;
  const folder = temporaryFolder();
  const [tokenFile, accountsFile] = [join(folder, 'token'), join(folder, 'accounts.json')];
  writeFileSync(tokenFile, `${control.token}\n`);
  writeExchangeAccounts(accountsFile, bots.slice(0, 3));
  const files = ['--control-token-file', tokenFile, '--accounts-file', accountsFile];
  const run = certify('--against', url, ...files, ...PLAN, '--json');
  await run.said('recording for');
  expect(commandLines().some((line) => line.includes(url))).toBe(true);
  expect(commandLines().filter((line) => line.includes(control.token))).toEqual([]);
  const { code, out, err } = await run.ended;
  const certificate = certificateOf(out, err);
  expect(
    certificate.comparisons.flatMap(({ examples }) => examples),
    err,
  ).toEqual([]);
  expect({ code, passed: certificate.passed }).toEqual({ code: 0, passed: true });
  expect(certificate.faults.length).toBeGreaterThan(5);
  expect(certificate.kills.map(({ service }) => service)).toEqual(['clickhouse', 'collect']);
  const notCompared = certificate.comparisons.filter((one) => one.notCompared !== undefined);
  expect(notCompared.map(({ name }) => name)).toEqual(['zero-sum over all accounts']);
  const expected = new Map(certificate.comparisons.map((one) => [one.name, one.expected]));
  expect(expected.size).toBe(71);
  for (const [name, count] of expected) {
    // Whether a minute or a market ended, two bids added up to more than 1, and a period was without a gap, is by chance; on a busy machine
    // the tolerance for transit is longer than the gaps, so that no whole second of them is compared.
    const byChance = [
      ...['candles of 60 s', 'settlements', 'times of resolutions', 'chance candles', 'missing seconds', 'longshots'],
      ...['times of arbitrage', 'zero-sum over all accounts'],
    ];
    if (!byChance.some((one) => name === one || name === `${one}, release`)) expect(count, name).toBeGreaterThan(0);
  }
  expect((await exchange.control('POST', '/trading', { open: true })).body).toEqual({ open: true });
});
