import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { describeError, type Logger, writeFileAtomic } from '../core/index.js';

/** Maximum delay before a change is written, milliseconds. If a change is lost, some data is fetched again. */
const SAVE_DELAY_MS = 1000;

export interface StateFileOptions<T> {
  readonly path: string;
  readonly schema: z.ZodType<T>;
  /** Returns the current content; called when the file is written. */
  readonly content: () => T;
  /** Effect of a missing file, for log lines, like `chance history is fetched from the beginning`. */
  readonly without: string;
  readonly log: Logger;
}

/** A small JSON file with the progress of a collector's polls. Without it, data is fetched again; nothing is lost. */
export class StateFile<T> {
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(private readonly options: StateFileOptions<T>) {}

  /** Reads the content; undefined when the file does not exist or is invalid. */
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

  /** Call when the content has changed. */
  changed(): void {
    this.#timer ??= setTimeout(() => this.#save(), SAVE_DELAY_MS);
  }

  /** Writes pending changes; resolves when the file is replaced. */
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
