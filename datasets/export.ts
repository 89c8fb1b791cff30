import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '../core/index.js';
import { ExportCounter, type ExportProgress } from './export-progress.js';
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

export interface ExportReport extends ExportProgress {
  readonly plan: Plan;
}

/**
 * Writes the rows of the tables to one file per table and day. What it takes is fixed in the folder before it begins; run
 * again after an abort or a kill, it writes the files that are missing, with the same bytes in the end.
 */
export async function exportTables(options: ExportOptions, signal: AbortSignal): Promise<ExportReport> {
  const { folder, positions, database, userKey } = options;
  const columns = new TableColumns(options.source, options.request, signal);
  const request = { ...options.request, database, userKey: sha256Hex(userKey) };
  const begun = readPlan(folder, request, positions);
  const counter = new ExportCounter(folder, options.onProgress);
  if (begun) counter.resume(begun.files);
  const plan = begun ?? (await newPlan({ ...options, columns }, request, counter, signal));
  counter.startRate();
  const writer = new FileWriter({ ...options, columns }, plan, signal);
  for (const files of queriesOf(plan.files.filter(({ path }) => !counter.has(path)))) {
    await writer.write(files, true, (file) => counter.add(file));
  }
  return { ...counter.progress, plan };
}

/**
 * Written with the files of the tables in which rows are replaced, and of computed tables: after a kill, they cannot be read
 * as they were.
 */
async function newPlan(
  options: ExportOptions & { readonly columns: TableColumns },
  request: unknown,
  counter: ExportCounter,
  signal: AbortSignal,
): Promise<Plan> {
  const { folder, positions, nowMs } = options;
  await writePlan(folder, request, null);
  const replaced = ALL_TABLES.filter(isReadFirst);
  for (const { name } of replaced) rmSync(join(folder, name), { recursive: true, force: true });
  const plan = await makePlan(options, positions, nowMs, signal);
  // Another export may use the folder.
  if (plan.files.length === 0) return plan;
  counter.plan(plan.files);
  const writer = new FileWriter(options, plan, signal);
  const isReplaced = (table: string) => replaced.some(({ name }) => name === table);
  const rows = new Map<string, number>();
  for (const files of queriesOf(plan.files.filter(({ table }) => isReplaced(table)))) {
    await writer.write(files, false, (file) => {
      rows.set(file.path, file.rows);
      counter.add(file);
    });
  }
  const complete = { ...plan, files: plan.files.map((file) => ({ ...file, rows: rows.get(file.path) ?? file.rows })) };
  await writePlan(folder, request, complete);
  return complete;
}
