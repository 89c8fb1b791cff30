import { randomBytes } from 'node:crypto';
import { TOPICS } from '../../core/index.js';
import type { ShardConnection } from '../../warehouse/index.js';
import {
  ROLLUP_SETTINGS,
  type RollupKind,
  type RollupProgress,
  type RollupSource,
  rollupStatement,
} from './rollup-kind.js';

/** How often days that are over and have changed are looked for. */
const CHECK_MICROS = 600_000_000;
const READS = { upToDate: ['activity_records', 'activity_days', 'volume_rollups'] };

interface OpenDay {
  readonly day: string;
  readonly fingerprint: string;
}

/** Sums the activity feed into `volume_days`, day by day. */
export const VOLUME_DAYS: RollupKind = {
  table: 'volume_days',
  topic: TOPICS.account,
  progress: (_committed, nowMicros) => Math.floor(nowMicros / CHECK_MICROS),
  next: rollUpNextDay,
};

/**
 * Sums the items of the next day that `volume_days` does not hold. Returns whether more are left. Where several shards may have
 * rows of the partition, an item may be on two of them: then no day is summed, and the views read the items.
 */
export async function rollUpNextDay(
  { log, partition, shards }: RollupSource,
  { committed, assertOwned }: RollupProgress,
  signal: AbortSignal,
): Promise<boolean> {
  const [shard, ...others] = shards;
  if (shard === undefined || others.length > 0) return false;
  const [open, ...later] = await shard.query<OpenDay>(
    rollupStatement('open_volume_days', shard),
    { log, partition, committed },
    signal,
    READS,
  );
  if (open === undefined) return false;
  const params = { ...open, run: randomBytes(6).readUIntBE(0, 6) };
  await run(shard, 'volume_days', params, signal);
  await assertOwned?.();
  await run(shard, 'volume_rollups', params, signal);
  return later.length > 0;
}

async function run(
  shard: ShardConnection,
  name: string,
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  await shard.command(rollupStatement(name, shard), { params, settings: ROLLUP_SETTINGS, signal, ...READS });
}
