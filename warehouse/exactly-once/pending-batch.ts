import { describeError, IntegrityError } from '../../core/index.js';
import type { TableBlock, TableDefinition } from '../table.js';
import type { WriterEvent } from './batch.js';
import type { BatchPlace, BlockStore } from './block-store.js';
import { EveryShardStore } from './every-shard-store.js';
import { type Intent, totalRows } from './intent.js';
import type { WriterContext } from './writer-context.js';

/** A batch whose rows must all be in ClickHouse once, and what was announced about it. */
export interface PendingBatch {
  readonly place: BatchPlace;
  readonly intent: Intent;
  /** Its tables and how many rows each gets. */
  readonly tables: readonly TableDefinition[];
  /** Its rows; made again from the bus when they are not in memory. Throws RebuildError when that cannot be. */
  blocks(): Promise<readonly TableBlock[]>;
}

/** The rows of a batch that was begun cannot be made again. */
export class RebuildError extends IntegrityError {}

export const tokenOf = (place: BatchPlace, attempt = 0): string => {
  const token = `${place.log}/${place.topic}/${place.partition}/${place.start}-${place.end}`;
  return attempt === 0 ? token : `${token}/r${attempt}`;
};
/** One insert of a table's rows at a time: ClickHouse refuses a second query of the same ID while the first one runs. */
export const queryIdOf = (place: BatchPlace, attempt: number, table: string): string =>
  `${tokenOf(place, attempt)}/${table}`;

export const describePlace = ({ start, end, topic, partition }: BatchPlace): string =>
  `offsets ${start} to ${end} of ${topic}/${partition}`;

/** A batch whose rows are in memory. */
export function batchInMemory(place: BatchPlace, intent: Intent, blocks: readonly TableBlock[]): PendingBatch {
  return { place, intent, tables: blocks.map((block) => block.table), blocks: async () => blocks };
}

/** A batch that another run began: its rows are made again only when something of it is missing. */
export function batchFromIntent(
  place: BatchPlace,
  intent: Intent,
  transforms: string,
  definitions: readonly TableDefinition[],
  rebuild: (start: number, end: number) => Promise<readonly TableBlock[]>,
): PendingBatch {
  const fail = (reason: string, cause?: unknown) =>
    new RebuildError(
      `the batch ${describePlace(place)} was begun and cannot be finished: ${reason}. Finish it with the version of ` +
        'Chancery that began it, or run `chancery transform --accept-loss` to record the gap and go on',
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
      throw fail(`version ${intent.transforms} of the transforms began it, this is version ${transforms}`);
    }
    const blocks = await rebuild(place.start, place.end).catch((error: unknown) => {
      throw error instanceof IntegrityError ? fail(describeError(error), error) : error;
    });
    const now = blocks.map((block) => `${block.rows} of ${block.table.name}`).sort();
    const announced = Object.entries(intent.n).map(([name, rows]) => `${rows} of ${name}`);
    if (now.join() !== announced.sort().join()) {
      throw fail(`its records become the rows ${now.join(', ') || 'none'}, announced were ${announced.join(', ')}`);
    }
    return blocks;
  };
  return {
    place,
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
 * Where the rows of a batch go, by its intent: however many shards there are by now. A small table's rows that were
 * begun when there were fewer shards go to those; what a shard lacks of before its time is copied afterwards.
 */
export function storeOf({ shards, partition }: WriterContext, intent: Intent): BlockStore {
  const home = shards[intent.shard];
  if (!home) {
    throw new IntegrityError(
      `a batch of ${partition.topic}/${partition.partition} was begun on ClickHouse shard ${intent.shard + 1}, ` +
        `but ${shards.length} are configured; configure the shards as before until it is finished`,
    );
  }
  return intent.shards === undefined ? home : new EveryShardStore(home, shards.slice(0, intent.shards), intent.n);
}

export function report(
  { partition, onEvent }: WriterContext,
  batch: PendingBatch,
  event: Pick<WriterEvent, 'type' | 'cause' | 'delayMs'>,
): void {
  const { topic, partition: number } = partition;
  const { start, end } = batch.place;
  onEvent({ topic, partition: number, start, end, rows: totalRows(batch.intent), ...event });
}
