import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { describeError, type Logger, writeFileAtomic } from '../core/index.js';

/** How long a change may wait to be written, milliseconds. If it is lost, some data is fetched again. */
const SAVE_DELAY_MS = 1000;

export interface StateFileOptions<T> {
  readonly path: string;
  readonly schema: z.ZodType<T>;
  /** The present content; called when it is written. */
  readonly content: () => T;
  /** Effect of a missing file, for log lines, like `chance history is fetched from the beginning`. */
  readonly without: string;
  readonly log: Logger;
}

/** A small JSON file of what a collector need not fetch again. Losing it costs time, no data. */
export class StateFile<T> {
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(private readonly options: StateFileOptions<T>) {}

  /** Its content; undefined when it does not exist or cannot be used. */
  async load(): Promise<T | undefined> {
    let text: string;
    try {
      text = await readFile(this.options.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#reportUnusable(describeError(error));
      return undefined;
    }
    try {
      return this.options.schema.parse(JSON.parse(text));
    } catch {
      this.#reportUnusable('it is damaged');
      return undefined;
    }
  }

  /** The content has changed. */
  changed(): void {
    this.#timer ??= setTimeout(() => this.#save(), SAVE_DELAY_MS);
  }

  /** Writes what has changed; resolves when it is in place. */
  async flush(): Promise<void> {
    if (this.#timer) this.#save();
    await this.#saving;
  }

  #reportUnusable(reason: string): void {
    this.options.log.warn(`cannot read ${this.options.path} (${reason}): ${this.options.without}`);
  }

  #save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#saving = this.#saving.then(async () => {
      const { path, content, log } = this.options;
      try {
        await mkdir(dirname(path), { recursive: true });
        await writeFileAtomic(path, JSON.stringify(content()));
      } catch (error) {
        log.warn(`cannot write ${path} (${describeError(error)}): a restart will fetch some history again`);
      }
    });
  }
}
