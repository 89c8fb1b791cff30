import { stripVTControlCharacters } from 'node:util';
import { printable } from '../../core/index.js';

/** Where the person looks: a terminal, or a file that lines are appended to. */
export interface ScreenStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/**
 * The screen of `chancery up`. On a terminal the board stays at the bottom and is redrawn in place, news scroll above
 * it. Elsewhere news are lines, and the board is printed once.
 */
export class Screen {
  #board: readonly string[] = [];
  #drawn = 0;
  #ended = false;

  constructor(private readonly stream: ScreenStream) {}

  get redraws(): boolean {
    return this.stream.isTTY === true;
  }

  /** A line that stays; it may hold text of others. */
  news(line: string): void {
    if (this.#ended) return;
    this.#erase();
    this.stream.write(`${printable(line)}\n`);
    this.#draw();
  }

  /** Replaces the board. */
  show(board: readonly string[]): void {
    if (this.#ended || (this.#drawn > 0 && board.join('\n') === this.#board.join('\n'))) return;
    this.#erase();
    this.#board = board;
    this.#draw();
    if (!this.redraws) this.#drawn = 0;
  }

  /** Leaves what is shown where it is. */
  end(): void {
    this.#ended = true;
  }

  #erase(): void {
    if (this.#drawn > 0) this.stream.write(`\u001b[${this.#drawn}A\u001b[J`);
    this.#drawn = 0;
  }

  #draw(): void {
    if (!this.redraws) {
      for (const line of this.#board) this.stream.write(`${line}\n`);
      this.#board = [];
      return;
    }
    // Some terminals say 0. A board taller than the window could not be redrawn in place.
    const width = this.stream.columns || 80;
    const most = Math.max(1, (this.stream.rows || 50) - 1);
    for (const line of this.#board) {
      const height = Math.max(1, Math.ceil(stripVTControlCharacters(line).length / width));
      if (this.#drawn + height > most) break;
      this.stream.write(`${line}\n`);
      this.#drawn += height;
    }
  }
}
