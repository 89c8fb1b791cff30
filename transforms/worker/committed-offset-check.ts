import { IntegrityError } from '../../core/index.js';
import type { ShardConnection } from '../../warehouse/index.js';
import type { SourcePartition } from '../tables/row-table.js';

/**
 * Checks that ClickHouse has no rows of records from an offset on, which processing would duplicate. Such rows exist when
 * the group's offset was deleted (Kafka does that for groups without members) or set back manually.
 * @param next the next offset to process; all batches before it are complete
 * @throws IntegrityError with the command that corrects it
 */
export async function assertNoRowsFrom(
  shards: readonly ShardConnection[],
  source: SourcePartition & { readonly group: string },
  next: number,
  signal: AbortSignal,
): Promise<void> {
  const { topic, partition, group } = source;
  for (const shard of shards) {
    const [found] = await shard.query<{ readonly last: number | null }>(
      `SELECT if(count() = 0, NULL, max(_offset)) AS last
       FROM ${shard.database}.raw_records
       WHERE _topic = {topic:String} AND _log = {log:String} AND _partition = {partition:UInt32}
         AND _offset >= {next:UInt64}`,
      { topic, log: source.log, partition, next },
      signal,
      { upToDate: ['raw_records'] },
    );
    const last = found?.last ?? undefined;
    if (last === undefined) continue;
    throw new IntegrityError(
      `group ${group} is at offset ${next} of ${topic}/${partition}, but ClickHouse has rows up to offset ${last}: the ` +
        `group's offset was deleted or set back, and continuing would duplicate them; set it to ${Number(last) + 1} ` +
        '(kafka-consumer-groups.sh --reset-offsets, see docs/kafka.md)',
    );
  }
}
