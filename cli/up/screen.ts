import { stripVTControlCharacters } from 'node:util';
import { printable } from '../../core/index.js';

/** A terminal, or a file that lines are appended to. */
export interface ScreenStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/**
 * The output of `chancery up`. On a terminal the status view stays at the bottom and is redrawn in place, messages
 * scroll above it. Elsewhere both are printed as lines.
 */
export class Screen {
  #view: readonly string[] = [];
  #drawn = 0;
  #ended = false;

  constructor(private readonly stream: ScreenStream) {}

  get redraws(): boolean {
    return this.stream.isTTY === true;
  }

  /** Prints a message, which may contain untrusted text: control characters are escaped. */
  print(line: string): void {
    if (this.#ended) return;
    this.#erase();
    this.stream.write(`${printable(line)}\n`);
    this.#draw();
  }

  /** Replaces the status view. */
  show(view: readonly string[]): void {
    if (this.#ended || (this.#drawn > 0 && view.join('\n') === this.#view.join('\n'))) return;
    this.#erase();
    this.#view = view;
    this.#draw();
    if (!this.redraws) this.#drawn = 0;
  }

  /** Leaves the shown text in place; later calls do nothing. */
  end(): void {
    this.#ended = true;
  }

  #erase(): void {
    if (this.#drawn > 0) this.stream.write(`\u001b[${this.#drawn}A\u001b[J`);
    this.#drawn = 0;
  }

  #draw(): void {
    if (!this.redraws) {
      for (const line of this.#view) this.stream.write(`${line}\n`);
      this.#view = [];
      return;
    }
    // Some terminals report 0. A view taller than the window could not be redrawn in place.
    const width = this.stream.columns || 80;
    const maxHeight = Math.max(1, (this.stream.rows || 50) - 1);
    for (const line of this.#view) {
      const height = Math.max(1, Math.ceil(stripVTControlCharacters(line).length / width));
      if (this.#drawn + height > maxHeight) break;
      this.stream.write(`${line}\n`);
      this.#drawn += height;
    }
  }
}
