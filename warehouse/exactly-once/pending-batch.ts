import { describeError, IntegrityError } from '../../core/index.js';
import type { TableBlock, TableDefinition } from '../table.js';
import type { WriterEvent } from './batch.js';
import type { BatchRange, BlockStore } from './block-store.js';
import { EveryShardStore } from './every-shard-store.js';
import { type Intent, totalRows } from './intent.js';
import type { WriterContext } from './writer-context.js';

/** A batch whose rows must all be stored in ClickHouse once, and its intent. */
export interface PendingBatch {
  readonly range: BatchRange;
  readonly intent: Intent;
  /** The tables that it has rows for. */
  readonly tables: readonly TableDefinition[];
  /** Its rows; rebuilt from the bus if they are not in memory. Throws RebuildError when that is impossible. */
  blocks(): Promise<readonly TableBlock[]>;
}

/** The rows of a batch that was begun cannot be rebuilt. */
export class RebuildError extends IntegrityError {}

export const tokenOf = (range: BatchRange, attempt = 0): string => {
  const token = `${range.log}/${range.topic}/${range.partition}/${range.start}-${range.end}`;
  return attempt === 0 ? token : `${token}/r${attempt}`;
};
/** ClickHouse rejects a second query with the ID of a running one: a table gets one insert of the batch at a time. */
export const queryIdOf = (range: BatchRange, attempt: number, table: string): string =>
  `${tokenOf(range, attempt)}/${table}`;

export const describeRange = ({ start, end, topic, partition }: BatchRange): string =>
  `offsets ${start} to ${end} of ${topic}/${partition}`;

/** A batch whose rows are in memory. */
export function batchInMemory(range: BatchRange, intent: Intent, blocks: readonly TableBlock[]): PendingBatch {
  return { range, intent, tables: blocks.map((block) => block.table), blocks: async () => blocks };
}

/** A batch that a former owner began: its rows are rebuilt only when rows are missing. */
export function batchFromIntent(
  range: BatchRange,
  intent: Intent,
  transforms: string,
  definitions: readonly TableDefinition[],
  rebuild: (start: number, end: number) => Promise<readonly TableBlock[]>,
): PendingBatch {
  const fail = (reason: string, cause?: unknown) =>
    new RebuildError(
      `the batch ${describeRange(range)} was begun and cannot be finished: ${reason}. Finish it with the version of ` +
        'Chancery that began it, or run `chancery transform --accept-loss` to record the gap and continue',
      { cause },
    );
  const tables = Object.keys(intent.n).map((name) => {
    const table = definitions.find((definition) => definition.name === name);
    if (!table) throw fail(`it has rows for the table ${name}, which this version does not know`);
    return table;
  });
  let made: Promise<readonly TableBlock[]> | undefined;
  const make = async () => {
    if (intent.transforms !== transforms) {
      throw fail(`it was begun with version ${intent.transforms} of the transforms, this is version ${transforms}`);
    }
    const blocks = await rebuild(range.start, range.end).catch((error: unknown) => {
      throw error instanceof IntegrityError ? fail(describeError(error), error) : error;
    });
    const now = blocks.map((block) => `${block.rows} of ${block.table.name}`).sort();
    const announced = Object.entries(intent.n).map(([name, rows]) => `${rows} of ${name}`);
    if (now.join() !== announced.sort().join()) {
      throw fail(`its records become ${now.join(', ') || 'no rows'}, its intent announced ${announced.join(', ')}`);
    }
    return blocks;
  };
  return {
    range,
    intent,
    tables,
    blocks: () => {
      made ??= make().catch((error: unknown) => {
        made = undefined;
        throw error;
      });
      return made;
    },
  };
}

/**
 * The shards of a batch, by its intent, regardless of the current number of shards. Rows of small tables go to the shards
 * that existed when the batch was begun; they are copied to newer shards afterwards.
 */
export function storeOf({ shards, partition }: WriterContext, intent: Intent): BlockStore {
  const own = shards[intent.shard];
  if (!own) {
    throw new IntegrityError(
      `a batch of ${partition.topic}/${partition.partition} was begun on ClickHouse shard ${intent.shard + 1}, ` +
        `but ${shards.length} are configured; configure the shards as before until it is finished`,
    );
  }
  return intent.shards === undefined ? own : new EveryShardStore(own, shards.slice(0, intent.shards), intent.n);
}

export function report(
  { partition, onEvent }: WriterContext,
  batch: PendingBatch,
  event: Pick<WriterEvent, 'type' | 'cause' | 'delayMs'>,
): void {
  const { topic, partition: number } = partition;
  const { start, end } = batch.range;
  onEvent({ topic, partition: number, start, end, rows: totalRows(batch.intent), ...event });
}
