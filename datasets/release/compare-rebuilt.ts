import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FileServer } from '../file-server.js';
import { FileInspector, fileRows } from '../inspect.js';
import type { TableSchema } from '../statement.js';
import { ALL_TABLES } from '../tables.js';
import { sha256OfFile } from './checksums.js';
import { type MoreRows, rowsOnlyIn } from './compare-rows.js';
import type { Manifest, ManifestFile } from './manifest.js';

/** A file whose rebuilt rows are not those of the release. */
export interface UnequalFile {
  readonly path: string;
  readonly onlyInRelease: MoreRows;
  /** Those of them whose raw record is not in the release, or has no body; 0 for a computed table. */
  readonly withoutRecord: number;
  readonly onlyRebuilt: MoreRows;
  /** Whether these may have been replaced, before the export read the table, by records that it did not take. */
  readonly mayBeReplaced: boolean;
}

export interface ComparedFiles {
  /** Number of files with the same bytes, and with the same rows in other bytes. */
  readonly identical: number;
  readonly equal: number;
  readonly unequal: readonly UnequalFile[];
  /** Rebuilt files of days of the release that the release does not have. */
  readonly more: readonly string[];
}

export interface RebuiltFolder {
  /** Folder of the release. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** Folder of the rebuilt files. */
  readonly out: string;
  /** Names of the rebuilt tables. */
  readonly tables: readonly string[];
  /** Schema of `raw_records`. */
  readonly raw: TableSchema;
  readonly unconfined: boolean;
  readonly onFile?: (done: number, inAll: number) => void;
}

/**
 * Compares rebuilt files with those of the release: their bytes, then their content, then their rows. Files of computed tables
 * are left out where the day was not finished: they depend on when they are computed.
 */
export async function compareRebuilt(options: RebuiltFolder, signal: AbortSignal): Promise<ComparedFiles> {
  const { folder, manifest, out, tables, raw, unconfined, onFile } = options;
  const computed = new Set(manifest.tables.filter(({ positions }) => !positions).map(({ name }) => name));
  const isStable = (table: string, day: string) => !computed.has(table) || !manifest.unfinished_days.includes(day);
  const files = manifest.files.filter(({ table, day }) => tables.includes(table) && isStable(table, day));
  const unequal: UnequalFile[] = [];
  let [identical, equal] = [0, 0];
  const server = await FileServer.start({ folder, moreFolders: [out], unconfined }, signal);
  try {
    for (const [number, file] of files.entries()) {
      const comparison = new FileComparison(server, schemaOf(manifest, file.table), raw, file);
      if (await comparison.isIdentical(out, signal)) identical += 1;
      else if (await comparison.isEqual(signal)) equal += 1;
      else unequal.push(await comparison.difference(signal));
      onFile?.(number + 1, files.length);
    }
  } finally {
    await server.close();
  }
  const known = new Set(files.map(({ path }) => path));
  const possible = tables.flatMap((table) =>
    manifest.days.filter((day) => isStable(table, day)).map((day) => `${table}/${day}.parquet`),
  );
  const more = possible.filter((path) => !known.has(path) && existsSync(join(out, path)));
  return { identical, equal, unequal, more };
}

function schemaOf({ tables }: Manifest, table: string): TableSchema {
  const schema = tables.find(({ name }) => name === table);
  if (!schema) throw new Error(`the manifest has no table ${table}`);
  return schema;
}

const NO_ROWS: MoreRows = { rows: 0, first: undefined };

/** Whether a row of the table is replaced by that of a later record. */
const isReplaced = (name: string): boolean => ALL_TABLES.some((table) => table.name === name && table.final);

class FileComparison {
  readonly #paths: readonly [release: string, rebuilt: string];

  constructor(
    private readonly server: FileServer,
    private readonly schema: TableSchema,
    private readonly raw: TableSchema,
    private readonly file: ManifestFile,
  ) {
    const [release, rebuilt = release] = server.folders;
    this.#paths = [`${release}/${file.path}`, `${rebuilt}/${file.path}`];
  }

  async isIdentical(out: string, signal: AbortSignal): Promise<boolean> {
    const path = join(out, this.file.path);
    return existsSync(path) && (await sha256OfFile(path, signal)) === this.file.sha256;
  }

  async isEqual(signal: AbortSignal): Promise<boolean> {
    const [, rebuilt] = this.server.folders;
    if (!existsSync(this.#paths[1])) return false;
    const content = await new FileInspector(this.server, this.file.path, this.schema, rebuilt).content(signal);
    return content.content_sha256 === this.file.content_sha256;
  }

  async difference(signal: AbortSignal): Promise<UnequalFile> {
    const { server, schema, file } = this;
    const [release, rebuilt] = this.#paths;
    const { path, rows } = file;
    const withoutRecord = await this.#withoutRecord(signal);
    const mayBeReplaced = file.unfinished === true && isReplaced(schema.name);
    if (!existsSync(rebuilt)) {
      return { path, onlyInRelease: { rows, first: 1 }, withoutRecord, onlyRebuilt: NO_ROWS, mayBeReplaced };
    }
    return {
      path,
      onlyInRelease: await rowsOnlyIn(server, schema, [release, rebuilt], signal),
      withoutRecord,
      onlyRebuilt: await rowsOnlyIn(server, schema, [rebuilt, release], signal),
      mayBeReplaced,
    };
  }

  /** Number of rows of the release's file whose raw record is not in the release, or has no body there. */
  async #withoutRecord(signal: AbortSignal): Promise<number> {
    if (!this.schema.positions) return 0;
    const records = fileRows(`${this.server.folder}/${this.raw.name}/*.parquet`, this.raw);
    const [found] = await this.server.source.rows<{ rows: number }>(
      `SELECT toUInt64(count()) AS rows FROM ${fileRows(this.#paths[0], this.schema)}
       WHERE (_log, _partition, _offset) NOT IN (SELECT _log, _partition, _offset FROM ${records} WHERE ${HAS_BODY})`,
      signal,
    );
    return found?.rows ?? 0;
  }
}

/** Condition of the raw records whose body is there. */
export const HAS_BODY = '(body_bytes = 0 OR length(body) > 0)';
