import type { FileServer } from '../file-server.js';
import { text } from '../sql-text.js';
import type { Damage } from './damage.js';
import type { Manifest, ManifestFile } from './manifest.js';

/**
 * Files whose footer has other bounds of a column than their pages: readers skip rows by these. Of the column that leads the
 * sort order and that of the time, the smallest and the greatest value are looked up with the footer and without it.
 */
export async function footerDamages(
  server: FileServer,
  { tables }: Manifest,
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<Damage[]> {
  const damages: Damage[] = [];
  for (const { path, table } of files) {
    const schema = tables.find(({ name }) => name === table);
    const isNullable = (name: string) => schema?.columns.find((own) => own.name === name)?.type.startsWith('Nullable');
    const columns = new Set([...(schema?.sort_order.slice(0, 1) ?? []), ...(schema?.time.slice(0, 1) ?? [])]);
    for (const column of [...columns].filter((name) => !isNullable(name))) {
      const from = `file(${text(`${server.folder}/${path}`)}, Parquet)`;
      const value = `\`${column}\``;
      const isBound = `${value} IN ((SELECT min(${value}) FROM ${from}), (SELECT max(${value}) FROM ${from}))`;
      const [found] = await server.source.rows<{ pages: number; footer: number }>(
        `SELECT toUInt64(countIf(${isBound})) AS pages,
           toUInt64(assumeNotNull((SELECT count() FROM ${from} WHERE ${value} = (SELECT min(${value}) FROM ${from}))
             + (SELECT count() FROM ${from} WHERE ${value} = (SELECT max(${value}) FROM ${from}) AND ${value} != (SELECT min(${value}) FROM ${from})))) AS footer
         FROM ${from}`,
        signal,
      );
      if (!found || found.pages === found.footer) continue;
      damages.push({ path, column, what: 'has other bounds in the footer of the file than in its pages' });
    }
  }
  return damages;
}
