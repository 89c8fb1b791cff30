import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { describeError, type Logger } from '../core/index.js';

const schema = z.object({
  version: z.literal(1),
  markets: z.record(z.string(), z.object({ event: z.string(), until: z.number().int().min(0) })),
});

export interface MarketProgress {
  readonly event: string;
  /** History is on the bus up to here, or begins here, Unix seconds. */
  readonly until: number;
}

/** How long a change may wait to be written, milliseconds. What is lost with it is fetched again, nothing more. */
const SAVE_DELAY_MS = 1000;

/**
 * How far chance history has been fetched, per market, in a small file: a collector that starts again goes on there.
 * Without the file it starts again from the beginning; answers that come twice change nothing downstream.
 */
export class HistoryState {
  readonly #markets = new Map<string, MarketProgress>();
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(
    private readonly path: string,
    private readonly log: Logger,
  ) {}

  async load(): Promise<void> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#forget(describeError(error));
      return;
    }
    try {
      const { markets } = schema.parse(JSON.parse(text));
      for (const [market, progress] of Object.entries(markets)) this.#markets.set(market, progress);
    } catch {
      this.#forget('it is damaged');
    }
  }

  get(marketId: string): MarketProgress | undefined {
    return this.#markets.get(marketId);
  }

  get markets(): ReadonlyMap<string, MarketProgress> {
    return this.#markets;
  }

  set(marketId: string, progress: MarketProgress): void {
    this.#markets.set(marketId, progress);
    this.#saveSoon();
  }

  delete(marketId: string): void {
    if (this.#markets.delete(marketId)) this.#saveSoon();
  }

  /** Writes what has changed; resolves when it is in place. */
  async flush(): Promise<void> {
    if (this.#timer) this.#save();
    await this.#saving;
  }

  #forget(reason: string): void {
    this.log.warn(`cannot read ${this.path} (${reason}): chance history is fetched from the beginning`);
  }

  #saveSoon(): void {
    this.#timer ??= setTimeout(() => this.#save(), SAVE_DELAY_MS);
  }

  #save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#saving = this.#saving.then(async () => {
      const text = JSON.stringify({ version: 1, markets: Object.fromEntries(this.#markets) });
      try {
        await mkdir(dirname(this.path), { recursive: true });
        await writeFile(`${this.path}.tmp`, text);
        await rename(`${this.path}.tmp`, this.path);
      } catch (error) {
        this.log.warn(`cannot write ${this.path} (${describeError(error)}): a restart will fetch some history again`);
      }
    });
  }
}
