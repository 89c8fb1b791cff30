import { type Bus, OffsetGoneError, type Partition, UnreadableRecordsError } from '../../bus/index.js';
import type { PartitionWriter } from '../../warehouse/index.js';
import type { LostRecords } from './lost-range.js';

interface SkipOptions {
  readonly bus: Bus;
  /** Whether records that retention deleted may be skipped. */
  readonly acceptGone: boolean;
  /** Whether records that the bus cannot read may be skipped. */
  readonly acceptUnreadable: boolean;
  /** Writes the row of lost records. */
  readonly write: (loss: LostRecords) => Promise<void>;
}

/**
 * Checks that the next records can be read. Lost ones become a row of `lost_ranges` if that is accepted, and the writer
 * continues after them.
 * @throws OffsetGoneError when it is not
 */
export async function skipLostRecords(
  partition: Partition,
  writer: PartitionWriter,
  options: SkipOptions,
): Promise<void> {
  const { topic, partition: number } = partition;
  const infos = await options.bus.partitions();
  const { begin, end } = infos.find((info) => info.topic === topic && info.partition === number) ?? {
    begin: 0,
    end: 0,
  };
  if (writer.nextOffset < begin) {
    if (!options.acceptGone) throw new OffsetGoneError(topic, number, writer.nextOffset, begin);
    await options.write({
      start: writer.nextOffset,
      end: begin - 1,
      cause: 'retention deleted them before the worker read them',
    });
  }
  // Without --accept-loss the consumer itself stops at them.
  while (options.acceptUnreadable && writer.nextOffset < end) {
    const loss = await unreadableFrom(partition, writer.nextOffset);
    if (!loss) return;
    await options.write(loss);
  }
}

async function unreadableFrom(partition: Partition, start: number): Promise<LostRecords | undefined> {
  try {
    for await (const _ of partition.read(start, start));
    return undefined;
  } catch (error) {
    if (!(error instanceof UnreadableRecordsError)) throw error;
    return { start, end: error.next - 1, cause: error.message };
  }
}
