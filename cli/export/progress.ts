import type { ExportProgress, ExportReport } from '../../datasets/index.js';

const BAR = 30;
/** Without a terminal, milliseconds between two lines. */
const LINE_EVERY_MS = 5000;

/** Shows the progress of an export: a bar on a terminal, else a line now and then. */
export class ProgressView {
  #lineAt = 0;
  readonly #startedAt: number;

  constructor(
    private readonly out: { write(text: string): unknown; readonly isTTY?: boolean },
    private readonly nowMs: () => number,
  ) {
    this.#startedAt = nowMs();
  }

  show(progress: ExportProgress): void {
    const line = progressLine(progress, (this.nowMs() - this.#startedAt) / 1000);
    if (this.out.isTTY) {
      const share = progress.rowsInAll === 0 ? 1 : progress.rows / progress.rowsInAll;
      const filled = Math.floor(share * BAR);
      const end = progress.files === progress.filesInAll ? '\n' : '';
      this.out.write(`\r\x1b[K[${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}] ${line}${end}`);
    } else if (this.nowMs() - this.#lineAt >= LINE_EVERY_MS) {
      this.#lineAt = this.nowMs();
      this.out.write(`${line}\n`);
    }
  }
}

/** Rows, files, rate and the time left at this rate. */
function progressLine(progress: ExportProgress, seconds: number): string {
  const { files, filesInAll, rows, rowsInAll, rowsResumed } = progress;
  const rate = seconds > 0 ? (rows - rowsResumed) / seconds : 0;
  const left = rate > 0 ? `, ${count(rate)} rows/s, ${Math.ceil((rowsInAll - rows) / rate)} s left` : '';
  return `${count(rows)} of ${count(rowsInAll)} rows, ${files} of ${filesInAll} files${left}`;
}

/** What an export wrote, and which days it left out. */
export function reportLines({ files, rows, bytes, leftOut }: ExportReport, folder: string): string[] {
  const written = `${folder}: ${count(files)} files, ${count(rows)} rows, ${count(bytes)} bytes`;
  return [written, ...leftOut.map(({ day, why }) => `left out ${day}: ${why}`)];
}

const count = (value: number): string => Math.round(value).toLocaleString('en-US');
