import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findEmbedded } from '../../warehouse/index.js';
import { startTestExchange } from '../support/exchange.js';
import { runAs } from '../support/run-as.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { certificateOf, certify, MARKET } from './command.js';

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

describe('chancery certify', () => {
  test('refuses the certificate when a view is broken, and keeps the data if wanted', async () => {
    const folder = join(temporaryFolder(), 'kept');
    const run = certify('--minutes', '0.1', '--no-faults', '--keep', folder, ...MARKET);
    await run.said('recording for');
    const endpoint = await findEmbedded(folder);
    if (!endpoint) throw new Error('no ClickHouse runs');
    const owner = { ...endpoint.owner, url: `${endpoint.url}/?database=chancery` };
    // The view has every other position only.
    const definition = await runAs(owner, 'SHOW CREATE VIEW positions FORMAT TSVRaw');
    await runAs(
      owner,
      `${definition.replace('CREATE VIEW', 'CREATE OR REPLACE VIEW')} WHERE cityHash64(asset) % 2 = 0`,
    );
    const { code, out } = await run.ended;
    expect(out).toMatch(/^positions +[\d,]+ +[\d,]+ +0 +[1-9]/m);
    expect(out).toContain('NOT certified');
    expect(code).toBe(1);
    expect(existsSync(join(folder, 'bus'))).toBe(true);
  });

  test('certifies a running exchange, and does not show the token to others', async () => {
    const world = { ownProcess: true, endedBy: 'caller', events: 5, bots: 8, pace: 2 } as const;
    const exchange = await startTestExchange(world);
    onTestFinished(async () => void (await exchange.stop()));
    const { url, control } = exchange.ready;
    const tokenFile = join(temporaryFolder(), 'token');
    writeFileSync(tokenFile, `${control.token}\n`);
    const run = certify('--against', url, '--control-token-file', tokenFile, '--minutes', '0.2', '--json');
    await run.said('recording for');
    expect(commandLines().some((line) => line.includes(url))).toBe(true);
    expect(commandLines().filter((line) => line.includes(control.token))).toEqual([]);
    const { code, out, err } = await run.ended;
    const certificate = certificateOf(out, err);
    expect(
      certificate.comparisons.flatMap(({ examples }) => examples),
      err,
    ).toEqual([]);
    expect(code).toBe(0);
    expect(certificate.comparisons.filter(({ notCompared }) => notCompared !== undefined)).toHaveLength(12);
    expect(certificate.comparisons.find(({ name }) => name === 'price changes')?.expected).toBeGreaterThan(0);
    expect(certificate.faults).toEqual([]);
    expect((await exchange.control('POST', '/trading', { open: true })).body).toEqual({ open: true });
  });

  test.each([
    [['--against', 'http://127.0.0.1:1'], '--against needs --control-token-file or --control-token'],
    [['--control-token', 'x'], '--control-token, --control-token-file and --accounts-file belong to --against URL'],
    [['--minutes', '0'], '--minutes is "0": it must be a number above 0 and up to 1440'],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await certify(...args).ended;
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});
