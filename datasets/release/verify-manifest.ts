import type { Damage } from './damage.js';
import type { Figures } from './figures.js';
import { MANIFEST_FILE, type Manifest } from './manifest.js';
import { notRebuildable } from './not-rebuildable.js';

/** Figures of the manifest that its list of files contradicts. */
export function manifestDamages(manifest: Manifest): Damage[] {
  const { tables, files, days, unfinished_days: unfinished } = manifest;
  const path = MANIFEST_FILE;
  const damages: Damage[] = [];
  for (const { name, rows } of tables) {
    const sum = files.filter(({ table }) => table === name).reduce((total, file) => total + file.rows, 0);
    if (sum !== rows) damages.push({ path, what: `has ${rows} rows of ${name}, and its files have ${sum}` });
  }
  const daysOf = (some: Manifest['files']) => [...new Set(some.map(({ day }) => day))].sort().join(', ');
  const taken = notRebuildable(tables, files).join(', ');
  const stated = [
    ['days', days, daysOf(files)],
    ['not_rebuildable', manifest.not_rebuildable ?? [taken], taken],
    ['unfinished_days', unfinished, daysOf(files.filter((file) => file.unfinished))],
  ] as const;
  for (const [name, own, found] of stated) {
    if (own.join(', ') !== found) damages.push({ path, what: `has other ${name} than its files: ${found || 'none'}` });
  }
  const misplaced = files.find((file) => file.path !== `${file.table}/${file.day}.parquet`);
  if (misplaced)
    damages.push({ path, what: `has ${misplaced.path} as a file of ${misplaced.table} and ${misplaced.day}` });
  return damages;
}

/** Figures of the manifest that are not those of its files. */
export function figureDamages(manifest: Manifest, found: Figures): Damage[] {
  const sources = {
    coverage: 'the files of coverage',
    replay_segments: 'the files of coverage',
    empty: 'the files of coverage and the tables',
    feed_loss_estimate: 'the files of feed_loss_estimate',
  } as const;
  return (Object.keys(sources) as (keyof typeof sources)[])
    .filter((name) => JSON.stringify(manifest[name]) !== JSON.stringify(found[name]))
    .map((name) => ({ path: MANIFEST_FILE, what: `has other ${name} than ${sources[name]}` }));
}
