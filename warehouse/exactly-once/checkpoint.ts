import { z } from 'zod';
import { IntegrityError } from '../../core/index.js';

/**
 * Committed with every offset, beside the intent: what must be in ClickHouse for the next owner to continue there. It is
 * short, and has no semicolon: Kafka stores it as offset metadata.
 */
const checkpointSchema = z.object({
  v: z.literal(1),
  /** An identity of the database of each shard that may have rows of the partition, by the number of the shard. */
  databases: z.record(z.string(), z.string().regex(/^[0-9a-f-]{36}$/)),
  /** The last complete batch that had rows, and how many it had in the tables in which every record has one. */
  last: z
    .object({
      start: z.number().int().nonnegative(),
      end: z.number().int().nonnegative(),
      shard: z.number().int().nonnegative(),
      rows: z.number().int().positive(),
    })
    .optional(),
  /** While rows are written again: those of earlier offsets may be stored already, by batches with other ranges. */
  storedBefore: z.number().int().positive().optional(),
});
export type Checkpoint = z.infer<typeof checkpointSchema>;

export const encodeCheckpoint = (checkpoint: Checkpoint): string => JSON.stringify(checkpoint);

/** Throws IntegrityError for a text that is not a checkpoint. */
export function decodeCheckpoint(text: string, partition: string): Checkpoint {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const parsed = checkpointSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new IntegrityError(
    `the metadata of the offset committed for ${partition} has ${JSON.stringify(text.slice(0, 80))}, which is not a ` +
      'checkpoint of this version of Chancery; use the version that wrote it, or another --group',
  );
}
