import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { FileServer } from '../../datasets/index.js';
import { emptyDays } from '../../datasets/release/empty-days.js';
import type { ManifestFile } from '../../datasets/release/manifest.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const DAY = '2026-01-05';
const { signal } = new AbortController();
/** Rows of some files of a day, as SQL. */
const FILES = {
  coverage: `SELECT * FROM VALUES('table String, event String, state String',
    ('price_ticks', 'quiet', 'observed'), ('price_ticks', 'gap', 'observed'), ('price_ticks', 'gap', 'missing'),
    ('chance_points', 'quiet', 'unknown'), ('activity_records', 'quiet', 'observed'),
    ('event_observations', 'quiet', 'observed'), ('event_observations', 'gap', 'observed'), ('market_observations', 'quiet', 'observed'))`,
  market_observations: `SELECT * FROM VALUES('event String, market String',
    ('quiet', 'busy market'), ('quiet', 'empty market'), ('quiet', 'empty market'), ('gap', 'unknown market'))`,
  price_ticks: "SELECT 'busy market' AS market",
  event_observations: "SELECT 'quiet' AS event",
};

it('a market is empty on a day on which it has no rows and was observed throughout', async () => {
  const folder = temporaryFolder();
  const server = await FileServer.start({ folder, unconfined: false }, signal);
  onTestFinished(() => server.close());
  const files: ManifestFile[] = [];
  for (const [table, query] of Object.entries(FILES)) {
    const path = `${table}/${DAY}.parquet`;
    mkdirSync(join(folder, table));
    const { body } = await server.source.result(`${query} FORMAT Parquet`, {}, signal);
    writeFileSync(join(folder, path), await buffer(body));
    files.push({ path, table, day: DAY } as ManifestFile);
  }
  // Not `activity_records`, which the release does not have.
  expect(await emptyDays(server, Object.keys(FILES), files, signal)).toEqual([
    { table: 'price_ticks', day: DAY, markets: ['empty market'] },
    { table: 'event_observations', day: DAY, markets: ['unknown market'] },
  ]);
  const unfinished = files.map((file) => ({ ...file, unfinished: true as const }));
  expect(await emptyDays(server, Object.keys(FILES), unfinished, signal)).toEqual([]);
});
