import { COVERED_TABLES } from '../coverage.js';
import type { FileServer } from '../file-server.js';
import { text } from '../sql-text.js';
import type { Manifest, ManifestFile } from './manifest.js';

/**
 * The markets of finished days without rows in a table, although coverage calls the whole time in which their event was open
 * observed: nothing happened. Needs the files of `coverage` and `market_observations`.
 * @param tables of the release
 */
export async function emptyDays(
  server: FileServer,
  tables: readonly string[],
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<Manifest['empty']> {
  const rows = (path: string) => `file(${text(`${server.folder}/${path}`)}, Parquet)`;
  if (!files.some(({ table }) => table === 'market_observations')) return [];
  const empty: Manifest['empty'] = [];
  for (const { path, day } of files.filter((file) => file.table === 'coverage' && !file.unfinished)) {
    for (const table of COVERED_TABLES.filter((name) => tables.includes(name))) {
      const own = files.find((file) => file.table === table && file.day === day);
      const key = table === 'event_observations' ? 'event' : 'market';
      const busy = own ? ` AND ${key} NOT IN (SELECT ${key} FROM ${rows(own.path)})` : '';
      const found = await server.source.rows<{ market: string }>(
        `SELECT DISTINCT market FROM ${rows('market_observations/*.parquet')}
         WHERE event IN (SELECT event FROM ${rows(path)} WHERE table = ${text(table)} GROUP BY event HAVING countIf(state != 'observed') = 0)${busy}
         ORDER BY market`,
        signal,
      );
      if (found.length > 0) empty.push({ table, day, markets: found.map(({ market }) => market) });
    }
  }
  return empty;
}
