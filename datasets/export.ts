import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { IntegrityError, removeDrafts, sha256Hex, syncFolder, writeFileAtomic } from '../core/index.js';
import { formatClause } from './formats.js';
import { columnsOf, makePlan, type Plan, type PlannedFile } from './plan.js';
import type { LogPosition } from './positions.js';
import type { ExportRequest } from './request.js';
import type { ExportSource } from './source.js';
import { readPlan, writePlan } from './state.js';
import { type Column, fileQuery } from './statement.js';
import { ALL_TABLES, type ExportedTable, isReadFirst, tablesOf } from './tables.js';
import { hmacBlocks } from './user-key.js';

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
  const plan = await planOf(options, signal);
  const writer = new FileWriter(options, plan, signal);
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
  for (const file of plan.files.filter((planned) => !resumed.includes(planned))) {
    await writer.write(file, file.rows);
    const bytes = progress.bytes + statSync(join(options.folder, file.path)).size;
    progress = { ...progress, files: progress.files + 1, rows: progress.rows + file.rows, bytes };
    options.onProgress?.(progress);
  }
  return { ...progress, plan };
}

/**
 * The plan of the export that began in the folder, or a new one. A new one is written with the files of the tables in which
 * rows are replaced, and of computed tables: after a kill, they cannot be read as they were.
 */
async function planOf(options: ExportOptions, signal: AbortSignal): Promise<Plan> {
  const { source, folder, positions, nowMs, database, userKey } = options;
  const request = { ...options.request, database, userKey: sha256Hex(userKey) };
  const begun = readPlan(folder, request, positions);
  if (begun) return begun;
  await writePlan(folder, request, null);
  const replaced = ALL_TABLES.filter(isReadFirst);
  for (const { name } of replaced) rmSync(join(folder, name), { recursive: true, force: true });
  const plan = await makePlan(source, options.request, positions, nowMs, signal);
  const writer = new FileWriter(options, plan, signal);
  const files: PlannedFile[] = [];
  for (const file of plan.files) {
    const now = replaced.some(({ name }) => name === file.table);
    files.push(now ? { ...file, rows: await writer.write(file) } : file);
  }
  const complete = { ...plan, files };
  await writePlan(folder, request, complete);
  return complete;
}

/** Writes files, each atomically. */
class FileWriter {
  readonly #columns = new Map<string, Column[]>();
  readonly #tables: ReadonlyMap<string, ExportedTable>;

  constructor(
    private readonly options: ExportOptions,
    private readonly bounds: Pick<Plan, 'positions' | 'selection'>,
    private readonly signal: AbortSignal,
  ) {
    this.#tables = new Map(tablesOf(options.request).map((table) => [table.name, table]));
    const folders = ['', ...this.#tables.keys()].map((name) => join(options.folder, name));
    for (const folder of folders.filter((path) => existsSync(path))) removeDrafts(folder);
  }

  /**
   * @returns its rows
   * @throws IntegrityError when it has not the expected number of them
   */
  async write({ path, table: name, day }: PlannedFile, expected?: number): Promise<number> {
    this.signal.throwIfAborted();
    const { source, folder, request, userKey } = this.options;
    const table = this.#tables.get(name);
    if (!table) throw new Error(`the plan has a file of table ${name}, which was not requested`);
    const range = { ...this.bounds, table, request, columns: await this.#columnsOf(table) };
    const query = `${fileQuery(range, day)} ${formatClause(request.format, table.rowGroup)}`;
    const params = table.users ? { ...hmacBlocks(userKey) } : {};
    const result = await source.result(query, params, this.signal);
    if (expected !== undefined && result.rows !== expected) throw changed(path, expected, result.rows);
    const target = join(folder, path);
    if (mkdirSync(dirname(target), { recursive: true }) !== undefined) await syncFolder(folder);
    await writeFileAtomic(target, result.body, true);
    return result.rows;
  }

  async #columnsOf(table: ExportedTable): Promise<Column[]> {
    const known = this.#columns.get(table.name);
    if (known) return known;
    const columns = await columnsOf(this.options.source, table, this.options.request, this.signal);
    this.#columns.set(table.name, columns);
    return columns;
  }
}

function changed(path: string, expected: number, found: number): IntegrityError {
  return new IntegrityError(
    `${path} was to have ${expected} rows, and ClickHouse has ${found} of them now: rows were deleted since the export ` +
      'began; remove the folder and export again',
  );
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
