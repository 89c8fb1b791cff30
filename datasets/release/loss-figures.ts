import type { FileServer } from '../file-server.js';
import { text } from '../sql-text.js';
import type { Manifest, ManifestFile } from './manifest.js';

/** The hours of `feed_loss_estimate` together, with the same bounds (see the view). */
export async function lossFigures(
  server: FileServer,
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<Manifest['feed_loss_estimate']> {
  if (!files.some(({ table }) => table === 'feed_loss_estimate')) return [];
  return server.source.rows<Manifest['feed_loss_estimate'][number]>(
    `WITH 1.959963984540054 AS z, lost_samples / samples AS share, 1 + z * z / samples AS scale,
       (share + z * z / (2 * samples)) / scale AS centre,
       z * sqrt(share * (1 - share) / samples + z * z / (4 * samples * samples)) / scale AS margin
     SELECT stream, samples, lost_samples, changes, round(share, 6) AS rate,
       round(greatest(0, centre - margin), 6) AS lower, round(least(1, centre + margin), 6) AS upper
     FROM
     (
       SELECT stream, sum(samples) AS samples, sum(lost_samples) AS lost_samples, sum(changes) AS changes
       FROM (SELECT stream, samples, lost_samples, changes FROM file(${text(`${server.folder}/feed_loss_estimate/*.parquet`)}, Parquet))
       GROUP BY stream
     )
     ORDER BY stream`,
    signal,
  );
}
