import { isRebuildable, RECORDS } from '../tables.js';

/** Tables with rows whose raw records are not in the release: those about accounts, or all of a release without any. */
export function notRebuildable(
  tables: readonly { readonly name: string; readonly positions: boolean }[],
  files: readonly { readonly table: string }[],
): string[] {
  const hasFiles = (name: string) => files.some(({ table }) => table === name);
  const written = tables.filter(({ name }) => name !== RECORDS && hasFiles(name));
  return written.filter((table) => !hasFiles(RECORDS) || !isRebuildable(table)).map(({ name }) => name);
}
