import type { FileServer } from '../file-server.js';
import { text } from '../sql-text.js';
import type { Manifest, ManifestFile } from './manifest.js';

/** Tables of which `coverage` says what was observed. */
const OBSERVED_TABLES = ['price_ticks', 'chance_points'];

/**
 * The markets of finished days without rows in a table, although coverage calls the whole time in which their event was open
 * observed: nothing happened. Needs the files of `coverage` and `market_observations`.
 */
export async function emptyDays(
  server: FileServer,
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<Manifest['empty']> {
  const rows = (path: string) => `file(${text(`${server.folder}/${path}`)}, Parquet)`;
  if (!files.some(({ table }) => table === 'market_observations')) return [];
  const empty: Manifest['empty'] = [];
  for (const { path, day } of files.filter((file) => file.table === 'coverage' && !file.unfinished)) {
    for (const table of OBSERVED_TABLES) {
      const own = files.find((file) => file.table === table && file.day === day);
      const busy = own ? ` AND market NOT IN (SELECT market FROM ${rows(own.path)})` : '';
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
