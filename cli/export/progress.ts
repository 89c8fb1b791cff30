import type { ExportProgress, ExportReport } from '../../datasets/index.js';

const BAR = 30;
/** Without a terminal, milliseconds between two lines. */
const LINE_EVERY_MS = 5000;

/** Shows the progress of an export: a bar on a terminal, else a line now and then. */
export class ProgressView {
  #lineAt = 0;
  /** Since when rows are counted for the rate. */
  #rateFrom: number | undefined;

  constructor(
    private readonly out: { write(text: string): unknown; readonly isTTY?: boolean },
    private readonly nowMs: () => number,
  ) {}

  show(progress: ExportProgress): void {
    const { rows, rowsInAll, files, filesInAll, rowsBefore } = progress;
    if (filesInAll === 0) return;
    if (rowsBefore !== undefined) this.#rateFrom ??= this.nowMs();
    const line = progressLine(progress, (this.nowMs() - (this.#rateFrom ?? this.nowMs())) / 1000);
    this.#show(line, rowsInAll === 0 ? 1 : rows / rowsInAll, files === filesInAll);
  }

  /** Shows the progress of the check, which reads the files again. */
  showChecked(done: number, inAll: number): void {
    this.#show(`${done} of ${inAll} files checked`, done / inAll, done === inAll);
  }

  #show(line: string, share: number, isLast: boolean): void {
    if (this.out.isTTY) {
      const filled = Math.floor(share * BAR);
      const end = isLast ? '\n' : '';
      this.out.write(`\r\x1b[K[${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}] ${line}${end}`);
    } else if (this.nowMs() - this.#lineAt >= LINE_EVERY_MS) {
      this.#lineAt = this.nowMs();
      this.out.write(`${line}\n`);
    }
  }
}

/** Rows, files, rate and the time left at this rate. */
function progressLine(progress: ExportProgress, seconds: number): string {
  const { files, filesInAll, rows, rowsInAll, rowsBefore = rows } = progress;
  const rate = seconds > 0 ? (rows - rowsBefore) / seconds : 0;
  const left = rate > 0 ? `, ${count(rate)} rows/s, ${Math.ceil((rowsInAll - rows) / rate)} s left` : '';
  return `${count(rows)} of ${count(rowsInAll)} rows, ${files} of ${filesInAll} files${left}`;
}

/** What an export wrote, and which days it left out. */
export function reportLines({ files, rows, bytes, plan }: ExportReport, folder: string): string[] {
  const written = `${folder}: ${count(files)} files, ${count(rows)} rows, ${count(bytes)} bytes`;
  const leftOut = plan.leftOut.map(({ day, why }) => `left out ${day}: ${why}`);
  return [
    written,
    ...leftOut,
    ...(files === 0 && leftOut.length > 0
      ? ['nothing was exported: --unfinished also exports days that are not finished']
      : []),
  ];
}

const count = (value: number): string => Math.round(value).toLocaleString('en-US');
