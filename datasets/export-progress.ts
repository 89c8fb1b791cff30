import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { PlannedFile } from './plan.js';

export interface ExportProgress {
  readonly files: number;
  readonly filesInAll: number;
  readonly rows: number;
  readonly rowsInAll: number;
  readonly bytes: number;
  /**
   * Number of rows that were written before the rate of rows is measured, by which the remaining time is estimated. Absent while
   * computed tables are written: they take long and have few rows.
   */
  readonly rowsBefore?: number;
}

/** Counts the files that are written, and reports each. */
export class ExportCounter {
  progress: ExportProgress = { files: 0, filesInAll: 0, rows: 0, rowsInAll: 0, bytes: 0 };
  readonly #planned = new Map<string, number>();
  readonly #written = new Set<string>();

  constructor(
    private readonly folder: string,
    private readonly onProgress?: (progress: ExportProgress) => void,
  ) {}

  has(path: string): boolean {
    return this.#written.has(path);
  }

  plan(files: readonly PlannedFile[]): void {
    for (const { path, rows } of files) this.#planned.set(path, rows);
    this.#report({ filesInAll: files.length, rowsInAll: sum([...this.#planned.values()]) });
  }

  /** Takes the files that an earlier run of this export wrote as they are. */
  resume(files: readonly PlannedFile[]): void {
    const resumed = files.filter(({ path }) => existsSync(join(this.folder, path)));
    for (const { path } of resumed) this.#written.add(path);
    const rows = sum(resumed.map((file) => file.rows));
    const bytes = sum(resumed.map(({ path }) => statSync(join(this.folder, path)).size));
    this.progress = { ...this.progress, files: resumed.length, rows, bytes };
    this.plan(files);
  }

  /** From now on, rows are written as fast as ClickHouse reads them. */
  startRate(): void {
    this.#report({ rowsBefore: this.progress.rows });
  }

  add({ path, rows }: { readonly path: string; readonly rows: number }): void {
    this.#written.add(path);
    const { progress } = this;
    this.#report({
      files: progress.files + 1,
      rows: progress.rows + rows,
      // The plan has counted rows that are replaced.
      rowsInAll: progress.rowsInAll + rows - (this.#planned.get(path) ?? rows),
      bytes: progress.bytes + statSync(join(this.folder, path)).size,
    });
  }

  #report(changed: Partial<ExportProgress>): void {
    this.progress = { ...this.progress, ...changed };
    this.onProgress?.(this.progress);
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
