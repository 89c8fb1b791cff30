import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Logger } from '../../core/index.js';
import type { Share } from '../shard-assignment.js';
import { StateFile } from '../state-file.js';

const schema = z.object({
  version: z.literal(1),
  markets: z.record(z.string(), z.object({ event: z.string(), until: z.number().int().min(0) })),
});
type Content = z.infer<typeof schema>;

export interface MarketProgress {
  readonly event: string;
  /** History is on the bus up to here, or begins here, Unix seconds. */
  readonly until: number;
}

export interface HistoryStateOptions {
  readonly folder: string;
  readonly share: Share;
  readonly log: Logger;
}

/**
 * How far chance history has been fetched, per market, in a small file: a collector that starts again goes on there.
 * Without the file it starts again from the beginning; answers that come twice change nothing downstream. Where the work
 * is shared anew, a collector begins with what the files of the former shares say about its own events.
 */
export class HistoryState {
  readonly #markets = new Map<string, MarketProgress>();
  readonly #name: string;
  readonly #file: StateFile<Content>;

  constructor(private readonly options: HistoryStateOptions) {
    const { shard } = options.share;
    this.#name = shard === '0/1' ? 'chance-history.json' : `chance-history-${shard.replace('/', '-of-')}.json`;
    this.#file = this.#open(this.#name);
  }

  async load(): Promise<void> {
    const { folder } = this.options;
    if (existsSync(join(folder, this.#name))) return this.#take(await this.#file.load());
    const names = await readdir(folder).catch(() => []);
    const others = names.filter((name) => /^chance-history.*\.json$/.test(name));
    for (const name of others) this.#take(await this.#open(name).load());
  }

  get(marketId: string): MarketProgress | undefined {
    return this.#markets.get(marketId);
  }

  get markets(): ReadonlyMap<string, MarketProgress> {
    return this.#markets;
  }

  set(marketId: string, progress: MarketProgress): void {
    this.#markets.set(marketId, progress);
    this.#file.changed();
  }

  delete(marketId: string): void {
    if (this.#markets.delete(marketId)) this.#file.changed();
  }

  /** Writes what has changed; resolves when it is in place. */
  flush(): Promise<void> {
    return this.#file.flush();
  }

  #open(name: string): StateFile<Content> {
    return new StateFile({
      path: join(this.options.folder, name),
      schema,
      content: () => ({ version: 1 as const, markets: Object.fromEntries(this.#markets) }),
      log: this.options.log,
      without: 'chance history is fetched from the beginning',
    });
  }

  #take(content: Content | undefined): void {
    for (const [market, progress] of Object.entries(content?.markets ?? {})) {
      const known = this.#markets.get(market);
      if (!this.options.share.ownsEvent(progress.event) || (known && known.until > progress.until)) continue;
      this.#markets.set(market, progress);
    }
  }
}
