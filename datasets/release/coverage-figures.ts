import type { FileServer } from '../file-server.js';
import { text } from '../sql-text.js';
import type { Manifest, ManifestFile } from './manifest.js';

/** Totals of the coverage files, and the longest stretches that they call observed. */
export async function coverageFigures(
  server: FileServer,
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<Pick<Manifest, 'coverage' | 'replay_segments'>> {
  if (!files.some(({ table }) => table === 'coverage')) return { coverage: [], replay_segments: [] };
  const from = `FROM file(${text(`${server.folder}/coverage/*.parquet`)}, Parquet)`;
  const seconds = "dateDiff('microsecond', begins_at, ends_at) / 1e6";
  const coverage = await server.source.rows<Manifest['coverage'][number]>(
    `SELECT table, state, round(sum(${seconds}), 6) AS seconds ${from} GROUP BY table, state ORDER BY table, state`,
    signal,
  );
  const iso = (time: string) => `formatDateTime(${time}, '%Y-%m-%dT%H:%i:%S.%fZ')`;
  // Ranges end at midnight, where the next one begins.
  const segments = await server.source.rows<Manifest['replay_segments'][number]>(
    `SELECT table, event, ${iso('longest.2')} AS begins_at, ${iso('longest.3')} AS ends_at, longest.1 AS seconds
     FROM (
       SELECT table, event, max((${seconds.replace('begins_at', 'first_at').replace('ends_at', 'last_at')}, first_at, last_at)) AS longest
       FROM (
         SELECT table, event, island, min(begins_at) AS first_at, max(ends_at) AS last_at
         FROM (
           SELECT table, event, begins_at, ends_at, sum(begins_at != previous_end) OVER (PARTITION BY table, event ORDER BY begins_at) AS island
           FROM (
             SELECT table, event, begins_at, ends_at, lagInFrame(ends_at) OVER (PARTITION BY table, event ORDER BY begins_at) AS previous_end
             ${from} WHERE state = 'observed'
           )
         )
         GROUP BY table, event, island
       )
       GROUP BY table, event
     )
     ORDER BY table, event`,
    signal,
  );
  return { coverage, replay_segments: segments };
}
