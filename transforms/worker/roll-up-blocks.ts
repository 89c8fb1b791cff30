import { randomBytes } from 'node:crypto';
import { TOPICS } from '../../core/index.js';
import type { ShardConnection } from '../../warehouse/index.js';
import { BLOCK_RECORDS } from '../tables/price-ticks.js';
import {
  ROLLUP_SETTINGS,
  type RollupKind,
  type RollupProgress,
  type RollupSource,
  rollupStatement,
} from './rollup-kind.js';

/** The number of blocks whose records are all before an offset. */
const completeBlocks = (offset: number): number => Math.floor(offset / BLOCK_RECORDS);
/** Blocks aggregated by one statement. */
const MAX_BLOCKS = 16;
const READS = { upToDate: ['price_ticks', 'price_blocks'] };
const DAYS_READS = { upToDate: ['price_hours', 'price_blocks'] };

/** Aggregates ticks into `price_hours`, block by block, and that into `price_days`, group by group. */
export const PRICE_HOURS: RollupKind = {
  table: 'price_hours',
  topic: TOPICS.orderBook,
  progress: completeBlocks,
  next: rollUpNextBlocks,
};

/**
 * Aggregates the next blocks that `price_hours` does not hold; if it holds all, the next group that `price_days` does not hold.
 * Returns whether more may be left. A block whose ticks are on several shards is never aggregated: its rows of `price_blocks`
 * cannot be published at once.
 */
export async function rollUpNextBlocks(
  source: RollupSource,
  progress: RollupProgress,
  signal: AbortSignal,
): Promise<boolean> {
  const { log, partition, shards } = source;
  const { committed, assertOwned } = progress;
  const params = { log, partition, complete: completeBlocks(committed) };
  const open = await Promise.all(
    shards.map(async (shard) => {
      const rows = await shard.query<{ block: number }>(
        rollupStatement('open_price_blocks', shard),
        params,
        signal,
        READS,
      );
      return { shard, blocks: rows.map(({ block }) => block) };
    }),
  );
  const next = nextRange(open);
  if (next === undefined) return rollUpNextGroup(source, progress, signal);
  const run = randomBytes(6).readUIntBE(0, 6);
  const range = { log, partition, first_block: next.first, last_block: next.last, run };
  const options = { params: range, settings: ROLLUP_SETTINGS, signal, ...READS };
  await next.shard.command(rollupStatement('price_hours', next.shard), options);
  await assertOwned?.();
  await next.shard.command(rollupStatement('price_blocks', next.shard), options);
  return true;
}

interface OpenBlocks {
  readonly shard: ShardConnection;
  /** In ascending order. */
  readonly blocks: readonly number[];
}

/** A shard and a range of its blocks; no other shard has any of them. */
function nextRange(
  open: readonly OpenBlocks[],
): { readonly shard: ShardConnection; readonly first: number; readonly last: number } | undefined {
  for (const { shard, blocks } of open) {
    const elsewhere = new Set(open.filter((other) => other.shard !== shard).flatMap((other) => other.blocks));
    const first = blocks.find((block) => !elsewhere.has(block));
    if (first === undefined) continue;
    const end = blocks.find((block) => block > first && elsewhere.has(block)) ?? Infinity;
    const last = blocks.filter((block) => block < Math.min(first + MAX_BLOCKS, end)).at(-1) ?? first;
    return { shard, first, last };
  }
  return undefined;
}

/**
 * Aggregates the next group of blocks that `price_days` does not hold. Returns whether more are left. Where several shards may have
 * rows of the partition, none is aggregated: `price_blocks` of one would count before that of the other.
 */
async function rollUpNextGroup(
  { log, partition, shards }: RollupSource,
  { committed, assertOwned }: RollupProgress,
  signal: AbortSignal,
): Promise<boolean> {
  const [shard, ...others] = shards;
  if (shard === undefined || others.length > 0) return false;
  const params = { log, partition, complete: completeBlocks(committed) };
  const [group, ...later] = await shard.query<{ block_group: number; fingerprint: string }>(
    rollupStatement('open_price_groups', shard),
    params,
    signal,
    DAYS_READS,
  );
  if (group === undefined) return false;
  const run = { log, partition, ...group, run: randomBytes(6).readUIntBE(0, 6) };
  const options = { params: run, settings: ROLLUP_SETTINGS, signal, ...DAYS_READS };
  await shard.command(rollupStatement('price_days', shard), options);
  await assertOwned?.();
  await shard.command(rollupStatement('price_groups', shard), options);
  return later.length > 0;
}

/**
 * Withdraws what `price_hours` and `price_days` hold of the block of `offset` and of all later ones. Call it before rows from `offset`
 * on are written again.
 */
export async function discardBlocks(
  { log, partition, shards }: RollupSource,
  offset: number,
  signal: AbortSignal,
): Promise<void> {
  const params = { log, partition, first_block: completeBlocks(offset) };
  for (const shard of shards) {
    const options = { params, settings: ROLLUP_SETTINGS, signal, ...READS };
    await shard.command(rollupStatement('discard_price_blocks', shard), options);
  }
}
