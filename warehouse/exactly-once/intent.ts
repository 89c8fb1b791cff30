import { z } from 'zod';
import { IntegrityError } from '../../core/index.js';
import type { TableBlock } from '../table.js';

/**
 * What a worker is about to insert, committed with the batch's first offset before the first row is sent: whoever owns
 * the partition next can finish exactly this batch. Kept short: Kafka stores it as offset metadata (4 kB).
 */
const intentSchema = z.object({
  v: z.literal(1),
  /** Last offset of the batch; the first is the committed offset. */
  end: z.number().int().nonnegative(),
  /** Rows by table. */
  n: z.record(z.string(), z.number().int().positive()),
  /** 0: rows go in under the batch's token. N: rows that this token swallowed go in under `token/rN`. */
  attempt: z.number().int().nonnegative(),
  /** Version of the transforms that made the rows. */
  transforms: z.string(),
  /** Number of the ClickHouse shard that gets the batch. */
  shard: z.number().int().nonnegative(),
  /** How many shards there were: each gets the rows of small tables. Absent where there was one, or no such rows. */
  shards: z.number().int().min(2).optional(),
});
export type Intent = z.infer<typeof intentSchema>;

/** Where a batch goes. */
export interface Target {
  /** Number of its shard. */
  readonly shard: number;
  /** How many shards there are. */
  readonly shards: number;
}

export function makeIntent(
  batch: { readonly end: number; readonly blocks: readonly TableBlock[] },
  transforms: string,
  target: Target,
): Intent {
  const { shard, shards } = target;
  const n: Record<string, number> = {};
  for (const block of batch.blocks) n[block.table.name] = block.rows;
  const everywhere = shards > 1 && batch.blocks.some((block) => block.table.onEveryShardFor !== undefined);
  return { v: 1, end: batch.end, n, attempt: 0, transforms, shard, ...(everywhere ? { shards } : {}) };
}

export const encodeIntent = (intent: Intent): string => JSON.stringify(intent);

/** Throws IntegrityError for a text that is no intent. */
export function decodeIntent(text: string, place: string): Intent {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const parsed = intentSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new IntegrityError(
    `the offset committed for ${place} carries ${JSON.stringify(text.slice(0, 80))}, which this Chancery did not write; ` +
      'use the version that wrote it, or another --group',
  );
}

export const totalRows = (intent: Intent): number => Object.values(intent.n).reduce((sum, rows) => sum + rows, 0);
