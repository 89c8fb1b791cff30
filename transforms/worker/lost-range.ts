import type { Bus, Partition, PartitionInfo } from '../../bus/index.js';
import { type Clock, IntegrityError } from '../../core/index.js';
import type { TableBlock } from '../../warehouse/index.js';
import { readEnvelope } from '../record/envelope.js';
import { lostRanges } from '../tables/lost-ranges.js';
import type { Holders } from './database-check.js';

/** Consecutive records of a partition that have no rows and will get none. */
export interface LostRecords {
  readonly start: number;
  readonly end: number;
  /** The reason, one line. */
  readonly cause: string;
}

interface LostRangeContext {
  readonly bus: Bus;
  readonly holders: Holders;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The row of `lost_ranges` for lost records; it has the position of the last of them. */
export async function lostRangeBlocks(
  partition: Partition,
  loss: LostRecords,
  context: LostRangeContext,
): Promise<readonly TableBlock[]> {
  const { topic, log, partition: number } = partition;
  const infos = (await context.bus.partitions()).filter((info) => info.topic === topic);
  const info = infos.find((other) => other.partition === number);
  const builder = lostRanges.newBlock({ topic, log, partition: number });
  builder.append(loss.end, 0, {
    firstOffset: loss.start,
    lastOffset: loss.end,
    cause: loss.cause,
    partitions: infos.length,
    beginsAt: await beginningOf(partition, info, loss, context),
    endsAt: await endOf(partition, info, loss, context),
  });
  const block = builder.finish();
  return block ? [block] : [];
}

/** Receive time of the first lost record if the bus still has it, else that of the record before it; null if unknown. */
async function beginningOf(
  partition: Partition,
  info: PartitionInfo | undefined,
  { start }: LostRecords,
  { holders, signal }: LostRangeContext,
): Promise<number | null> {
  const own = await receiveTime(partition, info, start);
  if (own !== undefined) return own;
  const { topic, log, partition: number } = partition;
  let newest: { readonly offset: number; readonly at: number } | undefined;
  for (const shard of holders.values()) {
    const [row] = await shard.query<{ readonly offset: number; readonly at: number }>(
      `SELECT _offset AS offset, toUnixTimestamp64Micro(received_at) AS at FROM ${shard.database}.raw_records
       WHERE _topic = {topic:String} AND _log = {log:String} AND _partition = {partition:UInt32} AND _offset < {start:UInt64}
       ORDER BY _offset DESC LIMIT 1`,
      { topic, log, partition: number, start },
      signal,
      { upToDate: ['raw_records'] },
    );
    if (row && row.offset > (newest?.offset ?? -1)) newest = row;
  }
  return newest?.at ?? null;
}

/** The microsecond after the receive time of the last lost record if the bus still has it, else of the next one; else now. */
async function endOf(
  partition: Partition,
  info: PartitionInfo | undefined,
  { end }: LostRecords,
  { clock }: LostRangeContext,
): Promise<number> {
  const last = (await receiveTime(partition, info, end)) ?? (await receiveTime(partition, info, end + 1));
  return last === undefined ? clock.nowMicros() : last + 1;
}

/** Receive time of a record, Unix microseconds; undefined when the bus does not have it, or it cannot be read. */
async function receiveTime(
  partition: Partition,
  info: PartitionInfo | undefined,
  offset: number,
): Promise<number | undefined> {
  if (!info || offset < info.begin || offset >= info.end) return undefined;
  try {
    for await (const { bytes, bounds } of partition.read(offset, offset)) {
      const envelope = readEnvelope(bytes.subarray(bounds[0], bounds[1]), partition.topic);
      return (envelope.ok ? envelope.record.receivedAt : envelope.receivedAt) ?? undefined;
    }
  } catch (error) {
    if (!(error instanceof IntegrityError)) throw error;
  }
  return undefined;
}
