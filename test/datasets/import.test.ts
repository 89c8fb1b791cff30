import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { chancery, commandLine, MAIN } from '../cli/command.js';
import { rows, startUp } from '../cli/start-up.js';
import { useClickHouse } from '../support/clickhouse.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { recordInstance } from './recorded.js';

/** Queries whose results are those of the source. */
const QUERIES = [
  "SELECT count() AS n, groupBitXor(cityHash64(*)) AS hash FROM price_ticks WHERE toDate(received_at) < '2026-01-06'",
  'SELECT count() AS n, groupBitXor(cityHash64(*)) AS hash FROM chance_points',
  'SELECT count() AS n, groupBitXor(cityHash64(*)) AS hash FROM events',
  'SELECT count() AS n, groupBitXor(cityHash64(*)) AS hash FROM markets',
  'SELECT count() AS n, groupBitXor(cityHash64(market, begins_at, open, high, low, close, bid, ask, ticks)) AS hash' +
    " FROM candles(period_seconds = 3600) WHERE begins_at < '2026-01-06'",
];

describe('chancery import', () => {
  const server = useClickHouse();
  const release = join(temporaryFolder(), 'release');
  beforeAll(async () => {
    await recordInstance(server.clickhouse);
    const tables = 'price_ticks,chance_points,event_observations,market_observations,collector_events,polls,coverage';
    const args = ['export', '--data', server.clickhouse.dataFolder, '--out', release, '--release', 'rain@1'];
    expect((await commandLine([...args, '--tables', tables])).code).toBe(0);
  });

  it('makes an instance whose views answer like the source, also after kill -9, and which records', async () => {
    const data = join(temporaryFolder(), 'data');
    const child = spawn(process.execPath, [MAIN, 'import', release, '--data', data], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    await until(() => child.exitCode !== null || existsSync(`${data}.import/clickhouse/store`));
    child.kill('SIGKILL');
    await ended;
    expect(existsSync(data)).toBe(false);
    expect((await chancery(['sql', '--data', data, 'SELECT 1'])).err).toMatch(/does not exist/);

    const { code, out } = await chancery(['import', release, '--data', data]);
    expect({ code, out }).toEqual({ code: 0, out: `${data}: 16,011 rows of rain@1\n` });
    expect(existsSync(`${data}.import`)).toBe(false);
    for (const query of QUERIES) {
      const imported = await chancery(['sql', '--data', data, '--format', 'json', query]);
      const source = await commandLine(['sql', '--data', server.clickhouse.dataFolder, '--format', 'json', query]);
      expect(imported.out, query).toBe(source.out);
      expect(JSON.parse(source.out)).not.toMatchObject([{ n: 0 }]);
    }
    expect(await chancery(['import', release, '--data', data])).toMatchObject({
      code: 2,
      err: `chancery: ${data} is not empty; a dataset is imported into a new data folder: choose another with --data\n`,
    });

    const up = startUp(data);
    await up.line(/^ready in /);
    await until(async () => {
      const [found] = await rows<{ imported: number; recorded: number }>(
        data,
        "SELECT countIf(toDate(received_at) < '2026-01-06') AS imported, countIf(received_at > now() - INTERVAL 1 HOUR) AS recorded FROM price_ticks",
      );
      expect(found?.imported).toBe(16_000);
      return (found?.recorded ?? 0) > 0 || 'no new tick';
    });
  });

  it('imports nothing of a damaged release', async () => {
    const folder = join(temporaryFolder(), 'copy');
    cpSync(release, folder, { recursive: true });
    appendFileSync(join(folder, 'README.md'), 'x');
    const data = join(temporaryFolder(), 'data');
    const { code, out } = await commandLine(['import', folder, '--data', data]);
    expect({ code, out }).toEqual({
      code: 1,
      out: `README.md: does not have the SHA-256 of SHA256SUMS\n${folder} is damaged: nothing was imported\n`,
    });
    expect(existsSync(data)).toBe(false);
  });

  it('refuses a ClickHouse server, and a folder with something in it', async () => {
    const data = temporaryFolder();
    writeFileSync(join(data, 'file'), '');
    expect((await commandLine(['import', release, '--data', data])).err).toMatch(/is not empty; [^\n]+\n$/);
    rmSync(join(data, 'file'));
    const args = ['import', release, '--data', data, '--clickhouse-url', 'http://127.0.0.1:1'];
    expect((await commandLine(args)).err).toBe(
      'chancery: a dataset is imported into the embedded ClickHouse only; unset --clickhouse-url and --clickhouse-cluster\n',
    );
  });
});
