import type { Bus, Committed, Partition } from '../../bus/index.js';
import { IntegrityError } from '../../core/index.js';
import {
  CheckpointedPartition,
  decodeIntent,
  encodeCheckpoint,
  ensureDatabaseIdentity,
} from '../../warehouse/index.js';
import { RECORD_TABLES } from '../tables/index.js';
import { checkpointOf, type Holders, newestOffset, whyRowsAreMissing } from './database-check.js';

interface ResumeOptions {
  readonly bus: Bus;
  readonly holders: Holders;
  /** `--rebuild`: writes missing rows again from the bus. */
  readonly rebuild: boolean;
  /** `--accept-loss`: continues without them. */
  readonly acceptLoss: boolean;
  /** Resolves when ClickHouse runs no insert of the batch that is begun on the partition. */
  readonly awaitInserts: () => Promise<void>;
  readonly onRebuild: (range: { readonly from: number; readonly to: number; readonly cause: string }) => void;
  readonly signal: AbortSignal;
}

/** A partition that may be written to. */
interface Resumed {
  readonly partition: CheckpointedPartition;
  /** Records whose rows are missing and whose loss was accepted; the partition's next offset is the first of them. */
  readonly loss?: { readonly start: number; readonly end: number; readonly cause: string };
}

/**
 * Verifies that ClickHouse has the rows before the committed offset. If it has not, the partition's offset is set back:
 * with `rebuild` to the first record that the bus has, with `acceptLoss` to the first one without a row. The new
 * checkpoint says up to which offset rows may be stored already; the writer then inserts only missing ones, so that an
 * interrupted rebuild is continued by any worker, with or without the option.
 * @throws IntegrityError, which names both options, when neither is given
 */
export async function resumePartition(partition: Partition, options: ResumeOptions): Promise<Resumed> {
  const { bus, holders, rebuild, acceptLoss, signal } = options;
  const { topic, log, partition: number } = partition;
  const committed = await partition.committed();
  const { begin, end } = (await bus.partitions()).find((p) => p.topic === topic && p.partition === number) ?? {
    begin: 0,
    end: 0,
  };
  const source = { topic, log, partition: number, committed, begin };
  const cause = await whyRowsAreMissing(source, holders, signal);
  const known = checkpointOf(source);
  const databases: Record<string, string> = {};
  for (const [shard, connection] of holders) {
    const identities = await ensureDatabaseIdentity(connection, signal);
    const same = identities.find((id) => id === known?.databases[shard]);
    databases[shard] = same ?? identities[0] ?? '';
  }
  const names = RECORD_TABLES.map(({ name }) => name);
  if (cause === undefined) {
    const checkpoint = { v: 1 as const, ...known, databases };
    return { partition: new CheckpointedPartition(partition, committed, checkpoint, names) };
  }
  const at = `${topic}/${number}`;
  if (!rebuild && !acceptLoss) {
    throw new IntegrityError(
      `rows of ${at} before offset ${committed.offset} are missing: ${cause}; run \`chancery transform --rebuild\` to write ` +
        'them again from the bus, or `chancery transform --accept-loss` to continue without them and record the gap ' +
        '(`chancery up` takes the same options)',
    );
  }
  const newest = await newestOffset(source, holders, Number.MAX_SAFE_INTEGER, signal);
  if (newest !== undefined && newest >= end) {
    throw new IntegrityError(
      `rows of ${at} before offset ${committed.offset} are missing: ${cause}; and it has rows up to offset ${newest}, but the ` +
        `log ends at ${end}: restore the bus and ClickHouse from the same moment`,
    );
  }
  await options.awaitInserts();
  const storedBefore = Math.max(1, committed.offset, (newest ?? -1) + 1, nextAfter(committed));
  const limit = rebuild ? begin : committed.offset;
  const start = Math.min(limit, ((await newestOffset(source, holders, limit, signal)) ?? -1) + 1);
  const checkpoint = { v: 1 as const, databases, storedBefore };
  await partition.commit(start, undefined, encodeCheckpoint(checkpoint));
  const resumed = new CheckpointedPartition(partition, { offset: start }, checkpoint, names);
  if (rebuild) options.onRebuild({ from: start, to: storedBefore - 1, cause });
  if (rebuild || start === committed.offset) return { partition: resumed };
  return { partition: resumed, loss: { start, end: committed.offset - 1, cause } };
}

/** The offset after the batch that is begun, or the committed one. */
function nextAfter({ offset, intent }: Committed): number {
  return intent === undefined || intent === '' ? offset : decodeIntent(intent, '').end + 1;
}
