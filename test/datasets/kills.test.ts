import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../../core/index.js';
import { commandLine } from '../cli/command.js';
import { useClickHouse } from '../support/clickhouse.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { exportRelease, killExports, killImports } from './kills.js';
import { recordMarkets } from './recorded-markets.js';

const KILLS = 3;
const SEED = 15;

describe('kill -9 at random moments', () => {
  const server = useClickHouse();
  beforeAll(() => recordMarkets(server.clickhouse));
  const options = (name: string) => ({ kills: KILLS, random: new Random(SEED, name), folder: temporaryFolder() });

  it('of an export: the files are the same in the end', async () => {
    const { expected, found } = await killExports(server.clickhouse.dataFolder, options('export'));
    expect(Object.keys(expected).length).toBeGreaterThan(20);
    for (const one of found) expect(one).toEqual(expected);
    expect(found).not.toEqual([]);
  });

  it('of an import: there is no instance, or one with the same rows', async () => {
    const release = join(temporaryFolder(), 'release');
    expect((await commandLine(exportRelease(server.clickhouse.dataFolder, release))).code).toBe(0);
    const { folder, ...kills } = options('import');
    const { expected, found } = await killImports(release, { folder, ...kills });
    expect(expected['price_ticks']).toMatch(/^[1-9]\d+ rows/);
    for (const one of found) expect(one).toEqual(expected);
    expect(found).not.toEqual([]);
    expect(readdirSync(folder).filter((name) => name.endsWith('.import'))).toEqual([]);
  });
});
