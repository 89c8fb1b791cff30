import { z } from 'zod';
import { IntegrityError } from '../../core/index.js';
import type { TableBlock } from '../table.js';

/**
 * Announces a batch: committed with the batch's first offset before the first row is sent, so that the next owner of the
 * partition can finish exactly this batch. It is short: Kafka stores it as offset metadata, of at most 4 kB.
 */
const intentSchema = z.object({
  v: z.literal(1),
  /** Last offset of the batch; the first is the committed offset. */
  end: z.number().int().nonnegative(),
  /** Rows by table. */
  n: z.record(z.string(), z.number().int().positive()),
  /** 0: rows are inserted with the batch's token. N: rows that ClickHouse lost after it stored that token use `token/rN`. */
  attempt: z.number().int().nonnegative(),
  /** Version of the transforms that built the rows. */
  transforms: z.string(),
  /** Number of the ClickHouse shard of the batch. */
  shard: z.number().int().nonnegative(),
  /** Number of shards, each of which gets the rows of small tables. Absent with one shard, or without such rows. */
  shards: z.number().int().min(2).optional(),
});
export type Intent = z.infer<typeof intentSchema>;

/** The shard that a batch is written to. */
export interface Target {
  readonly shard: number;
  /** Number of shards. */
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

/** Throws IntegrityError for a text that is not an intent. */
export function decodeIntent(text: string, partition: string): Intent {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const parsed = intentSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new IntegrityError(
    `the metadata of the offset committed for ${partition} is ${JSON.stringify(text.slice(0, 80))}, which is not an intent ` +
      'of this version of Chancery; use the version that wrote it, or another --group',
  );
}

export const totalRows = (intent: Intent): number => Object.values(intent.n).reduce((sum, rows) => sum + rows, 0);
