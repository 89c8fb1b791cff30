import { IntegrityError } from '../../core/index.js';
import type { ShardConnection } from '../../warehouse/index.js';
import type { BatchPlace } from '../tables/row-table.js';

/**
 * Makes sure that no rows are there of records that come next: going on would bring them in twice. They are there when
 * the group's commits were lost (Kafka forgets those of a group without members) or moved back by hand.
 * @param next the next offset to process; whatever was begun before it is finished
 * @throws IntegrityError with the words to type
 */
export async function assertNoRowsAhead(
  shards: readonly ShardConnection[],
  place: BatchPlace & { readonly group: string },
  next: number,
  signal: AbortSignal,
): Promise<void> {
  const { topic, partition, group } = place;
  for (const shard of shards) {
    const [ahead] = await shard.query<{ readonly last: number | null }>(
      `SELECT if(count() = 0, NULL, max(_offset)) AS last
       FROM ${shard.database}.raw_records
       WHERE _topic = {topic:String} AND _log = {log:String} AND _partition = {partition:UInt32}
         AND _offset >= {next:UInt64}`,
      { topic, log: place.log, partition, next },
      signal,
      { upToDate: ['raw_records'] },
    );
    const last = ahead?.last ?? undefined;
    if (last === undefined) continue;
    throw new IntegrityError(
      `group ${group} is at offset ${next} of ${topic}/${partition}, but ClickHouse has rows up to offset ${last}: the ` +
        `group was forgotten or moved back, and going on would double them; set it to ${Number(last) + 1} ` +
        '(kafka-consumer-groups.sh --reset-offsets, see docs/kafka.md)',
    );
  }
}
