import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Logger } from '../../core/index.js';
import type { ShardAssignment } from '../shard-assignment.js';
import { StateFile } from '../state-file.js';

const schema = z.object({
  version: z.literal(1),
  markets: z.record(
    z.string(),
    z.object({ event: z.string(), until: z.number().int().min(0), from: z.number().int().min(0).optional() }),
  ),
});
type Content = z.infer<typeof schema>;

export interface MarketProgress {
  readonly event: string;
  /** History is on the bus up to here, or begins here, Unix seconds. */
  readonly until: number;
  /** Start of the history that is on the bus without a hole, Unix seconds; absent before the first response. */
  readonly from?: number | undefined;
}

export interface ChanceHistoryStateOptions {
  readonly folder: string;
  readonly assignment: ShardAssignment;
  readonly log: Logger;
}

/**
 * How far the chance history of each market was fetched, in a small file from which a restarted collector resumes. Without
 * the file it fetches all history again, which adds no rows downstream. After a change of the number of shards, a
 * collector starts with the entries of its own events in the files of the former shards.
 */
export class ChanceHistoryState {
  readonly #markets = new Map<string, MarketProgress>();
  readonly #name: string;
  readonly #file: StateFile<Content>;

  constructor(private readonly options: ChanceHistoryStateOptions) {
    const { shard } = options.assignment;
    this.#name = shard === '0/1' ? 'chance-history.json' : `chance-history-${shard.replace('/', '-of-')}.json`;
    this.#file = this.#open(this.#name);
  }

  async load(): Promise<void> {
    const { folder } = this.options;
    if (existsSync(join(folder, this.#name))) return this.#add(await this.#file.load());
    const names = await readdir(folder).catch(() => []);
    const others = names.filter((name) => /^chance-history.*\.json$/.test(name));
    for (const name of others) this.#add(await this.#open(name).load());
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

  /** Writes pending changes; resolves when the file is replaced. */
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

  #add(content: Content | undefined): void {
    for (const [market, progress] of Object.entries(content?.markets ?? {})) {
      const known = this.#markets.get(market);
      if (!this.options.assignment.ownsEvent(progress.event) || (known && known.until > progress.until)) continue;
      this.#markets.set(market, progress);
    }
  }
}
