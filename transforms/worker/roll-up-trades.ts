import { TOPICS } from '../../core/index.js';
import type { ShardConnection } from '../../warehouse/index.js';
import {
  ROLLUP_SETTINGS,
  type RollupKind,
  type RollupProgress,
  type RollupSource,
  rollupStatement,
} from './rollup-kind.js';

/** How often new trades are looked for. */
const CHECK_MICROS = 60_000_000;
/** The number of rows that one statement computes. */
const MAX_ROWS = 100;
/** The statements that compute rows, each with the one that lists what it would compute. */
const STATEMENTS = [
  { open: 'open_positions', compute: 'position_states' },
  { open: 'open_own_volumes', compute: 'own_volumes' },
];
const READS = { upToDate: ['trade_records', 'trade_states', 'position_states', 'own_volumes'] };

/** Computes `position_states` and `own_volumes` from the trades of our accounts. */
export const TRADE_ROLLUPS: RollupKind = {
  table: 'position_states and own_volumes',
  topic: TOPICS.account,
  progress: (_committed, nowMicros) => Math.floor(nowMicros / CHECK_MICROS),
  next: rollUpNextTrades,
};

/**
 * Computes the next rows of `position_states` and `own_volumes` whose trades have changed. Returns whether more are left. A row has
 * the fingerprint of its trades, so no ID has to be published, and two workers may compute the same row. Where several shards may
 * have rows of the partition, nothing is computed, and the views read the trades.
 */
export async function rollUpNextTrades(
  { log, partition, shards }: RollupSource,
  { committed, owned = new Map([[partition, committed]]) }: RollupProgress,
  signal: AbortSignal,
): Promise<boolean> {
  const [shard, ...others] = shards;
  if (shard === undefined || others.length > 0) return false;
  const params = { log, partitions: [...owned.keys()], committed: [...owned.values()], max_rows: MAX_ROWS };
  let more = false;
  for (const statement of STATEMENTS) more = (await computeNext(shard, statement, params, signal)) || more;
  return more;
}

async function computeNext(
  shard: ShardConnection,
  { open, compute }: (typeof STATEMENTS)[number],
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<boolean> {
  const rows = await shard.query(rollupStatement(open, shard), params, signal, READS);
  if (rows.length === 0) return false;
  await shard.command(rollupStatement(compute, shard), { params, settings: ROLLUP_SETTINGS, signal, ...READS });
  return rows.length === MAX_ROWS;
}
