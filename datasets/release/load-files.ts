import { fileRows } from '../inspect.js';
import type { Instance } from '../instance.js';
import type { TableSchema } from '../statement.js';
import { inParallel } from './in-parallel.js';
import type { Manifest } from './manifest.js';

export interface LoadOptions {
  /** Absolute path of the release, which the instance may read. */
  readonly folder: string;
  readonly database: string;
  readonly manifest: Manifest;
  /** The tables whose files are loaded. */
  readonly tables: readonly TableSchema[];
  readonly onFile?: ((done: number, inAll: number) => void) | undefined;
}

/**
 * Inserts files of a release into the tables of an instance, in any order: no two files have rows of the same key.
 * @returns the number of rows
 */
export async function loadFiles(
  { connection }: Instance,
  { folder, database, manifest, tables, onFile }: LoadOptions,
  signal: AbortSignal,
): Promise<number> {
  const schemas = new Map(tables.map((schema) => [schema.name, schema]));
  const files = manifest.files.filter(({ table }) => schemas.has(table));
  let done = 0;
  const tasks = files.map(({ path, table }) => async () => {
    const schema = schemas.get(table);
    if (schema) await connection.command(insertQuery(database, schema, `${folder}/${path}`), { signal });
    done += 1;
    onFile?.(done, files.length);
  });
  await inParallel(tasks);
  return files.reduce((sum, { rows }) => sum + rows, 0);
}

function insertQuery(database: string, schema: TableSchema, path: string): string {
  const { name, columns } = schema;
  const names = columns.map((column) => `\`${column.name}\``).join(', ');
  // Bodies of raw records that are loaded never expire.
  const [more, value] = name === 'raw_records' ? [', body_expires_at', ', toDateTime(4294967295)'] : ['', ''];
  return `INSERT INTO \`${database}\`.${name} (${names}${more}) SELECT ${names}${value} FROM ${fileRows(path, schema)}`;
}
