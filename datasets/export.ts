import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '../core/index.js';
import { FileWriter, queriesOf } from './file-writer.js';
import { makePlan, type Plan } from './plan.js';
import type { LogPosition } from './positions.js';
import type { ExportRequest } from './request.js';
import type { ExportSource } from './source.js';
import { readPlan, writePlan } from './state.js';
import { TableColumns } from './table-columns.js';
import { ALL_TABLES, isReadFirst } from './tables.js';

export interface ExportOptions {
  readonly source: ExportSource;
  /** Name of the database, by which another one in the same folder is refused. */
  readonly database: string;
  readonly folder: string;
  readonly request: ExportRequest;
  /** Up to where rows are in ClickHouse now. */
  readonly positions: readonly LogPosition[];
  /** Under which user IDs and names are written. */
  readonly userKey: Buffer;
  readonly nowMs: number;
  readonly onProgress?: (progress: ExportProgress) => void;
}

export interface ExportProgress {
  readonly files: number;
  readonly filesInAll: number;
  readonly rows: number;
  readonly rowsInAll: number;
  readonly bytes: number;
  /** Rows of files that an earlier run of this export wrote. */
  readonly rowsResumed: number;
}

export interface ExportReport extends ExportProgress {
  readonly plan: Plan;
}

/**
 * Writes the rows of the tables to one file per table and day. What it takes is fixed in the folder before it begins; run
 * again after an abort or a kill, it writes the files that are missing, with the same bytes in the end.
 */
export async function exportTables(options: ExportOptions, signal: AbortSignal): Promise<ExportReport> {
  const columns = new TableColumns(options.source, options.request, signal);
  const plan = await planOf(options, columns, signal);
  const writer = new FileWriter({ ...options, columns }, plan, signal);
  const resumed = plan.files.filter(({ path }) => existsSync(join(options.folder, path)));
  const rowsResumed = sum(resumed.map(({ rows }) => rows));
  let progress: ExportProgress = {
    files: resumed.length,
    filesInAll: plan.files.length,
    rows: rowsResumed,
    rowsInAll: sum(plan.files.map(({ rows }) => rows)),
    bytes: sum(resumed.map(({ path }) => statSync(join(options.folder, path)).size)),
    rowsResumed,
  };
  options.onProgress?.(progress);
  const written = new Set(resumed);
  for (const files of queriesOf(plan.files.filter((file) => !written.has(file)))) {
    await writer.write(files, true, ({ path, rows }) => {
      const bytes = progress.bytes + statSync(join(options.folder, path)).size;
      progress = { ...progress, files: progress.files + 1, rows: progress.rows + rows, bytes };
      options.onProgress?.(progress);
    });
  }
  return { ...progress, plan };
}

/**
 * The plan of the export that began in the folder, or a new one. A new one is written with the files of the tables in which
 * rows are replaced, and of computed tables: after a kill, they cannot be read as they were.
 */
async function planOf(options: ExportOptions, columns: TableColumns, signal: AbortSignal): Promise<Plan> {
  const { folder, positions, nowMs, database, userKey } = options;
  const request = { ...options.request, database, userKey: sha256Hex(userKey) };
  const begun = readPlan(folder, request, positions);
  if (begun) return begun;
  await writePlan(folder, request, null);
  const replaced = ALL_TABLES.filter(isReadFirst);
  for (const { name } of replaced) rmSync(join(folder, name), { recursive: true, force: true });
  const plan = await makePlan({ ...options, columns }, positions, nowMs, signal);
  const writer = new FileWriter({ ...options, columns }, plan, signal);
  const isReplaced = (table: string) => replaced.some(({ name }) => name === table);
  const rows = new Map<string, number>();
  for (const files of queriesOf(plan.files.filter(({ table }) => isReplaced(table)))) {
    await writer.write(files, false, (file) => rows.set(file.path, file.rows));
  }
  const files = plan.files.map((file) => ({ ...file, rows: rows.get(file.path) ?? file.rows }));
  const complete = { ...plan, files };
  await writePlan(folder, request, complete);
  return complete;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
