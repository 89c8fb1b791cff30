import type { FileServer } from '../file-server.js';
import { coverageFigures } from './coverage-figures.js';
import { emptyDays } from './empty-days.js';
import { lossFigures } from './loss-figures.js';
import type { Manifest, ManifestFile } from './manifest.js';

/** What a manifest says about the completeness of its tables, computed from the files. */
export type Figures = Pick<Manifest, 'coverage' | 'replay_segments' | 'empty' | 'feed_loss_estimate'>;

/** @param tables names of the tables of the release */
export async function figuresOf(
  server: FileServer,
  tables: readonly string[],
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<Figures> {
  return {
    ...(await coverageFigures(server, files, signal)),
    empty: await emptyDays(server, tables, files, signal),
    feed_loss_estimate: await lossFigures(server, files, signal),
  };
}
