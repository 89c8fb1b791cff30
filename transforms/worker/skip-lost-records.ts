import { type Bus, OffsetGoneError, type Partition, UnreadableRecordsError } from '../../bus/index.js';
import type { PartitionWriter } from '../../warehouse/index.js';
import { lostRangeBlocks } from './lost-range.js';

export interface Loss {
  readonly start: number;
  readonly end: number;
  readonly cause: string;
}

export interface PassLostOptions {
  readonly bus: Bus;
  /** `--accept-loss`: goes on behind what is lost. */
  readonly accept: boolean;
  readonly onLoss: (loss: Loss) => void;
}

/**
 * Looks whether the records that come next can be had. Those that retention took, and those that the bus has but cannot
 * read, are written down as a lost range, and the writer goes on behind them.
 * @throws OffsetGoneError when loss is not accepted
 */
export async function passLost(partition: Partition, writer: PartitionWriter, options: PassLostOptions): Promise<void> {
  const { topic, partition: number } = partition;
  const infos = await options.bus.partitions();
  const { begin, end } = infos.find((info) => info.topic === topic && info.partition === number) ?? {
    begin: 0,
    end: 0,
  };
  if (writer.nextOffset < begin) {
    if (!options.accept) throw new OffsetGoneError(topic, number, writer.nextOffset, begin);
    await writeDown(partition, writer, options, {
      start: writer.nextOffset,
      end: begin - 1,
      cause: 'retention of the bus overtook the worker',
    });
  }
  // Without --accept-loss the consumer itself stops there.
  while (options.accept && writer.nextOffset < end) {
    const loss = await unreadableFrom(partition, writer.nextOffset);
    if (!loss) return;
    await writeDown(partition, writer, options, loss);
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

async function writeDown(
  { topic, log, partition }: Partition,
  writer: PartitionWriter,
  options: PassLostOptions,
  loss: Loss,
): Promise<void> {
  options.onLoss(loss);
  await writer.write({ ...loss, blocks: lostRangeBlocks({ topic, log, partition }, loss) });
}
