import { type Bus, OffsetGoneError, type Partition, UnreadableRecordsError } from '../../bus/index.js';
import type { PartitionWriter } from '../../warehouse/index.js';
import { lostRangeBlocks } from './lost-range.js';

interface Loss {
  readonly start: number;
  readonly end: number;
  readonly cause: string;
}

interface SkipOptions {
  readonly bus: Bus;
  /** `--accept-loss`: continues after the lost records. */
  readonly accept: boolean;
  readonly onLoss: (loss: Loss) => void;
}

/**
 * Checks that the next records can be read. With `accept`, those that retention deleted and those that the bus holds but
 * cannot read become a row of `lost_ranges`, and the writer continues after them.
 * @throws OffsetGoneError when loss is not accepted
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
    if (!options.accept) throw new OffsetGoneError(topic, number, writer.nextOffset, begin);
    await writeLoss(partition, writer, options, {
      start: writer.nextOffset,
      end: begin - 1,
      cause: 'retention deleted them before the worker read them',
    });
  }
  // Without --accept-loss the consumer stops at them by itself.
  while (options.accept && writer.nextOffset < end) {
    const loss = await unreadableFrom(partition, writer.nextOffset);
    if (!loss) return;
    await writeLoss(partition, writer, options, loss);
  }
}

async function unreadableFrom(partition: Partition, start: number): Promise<Loss | undefined> {
  try {
    for await (const _ of partition.read(start, start));
    return undefined;
  } catch (error) {
    if (!(error instanceof UnreadableRecordsError)) throw error;
    return { start, end: error.next - 1, cause: error.message };
  }
}

async function writeLoss(
  { topic, log, partition }: Partition,
  writer: PartitionWriter,
  options: SkipOptions,
  loss: Loss,
): Promise<void> {
  options.onLoss(loss);
  await writer.write({ ...loss, blocks: lostRangeBlocks({ topic, log, partition }, loss) });
}
