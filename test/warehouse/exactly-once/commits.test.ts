import { describe, expect, it } from 'vitest';
import { PartitionLostError } from '../../../bus/index.js';
import { UnavailableError } from '../../../core/index.js';
import {
  ExactlyOnceWriter,
  logTable,
  type PartitionStore,
  RowBinaryWriter,
  type TableBlock,
} from '../../../warehouse/index.js';

const rows = logTable({ name: 'rows', columns: [] });

/** A partition on which another owner commits offset 240 between every commit and its read-back. */
function overtaken(assertOwned: () => Promise<void>): PartitionStore {
  let commits = 0;
  return {
    topic: 'topic',
    partition: 1,
    log: 'log',
    commit: async () => {
      commits += 1;
    },
    committed: async () => ({ offset: commits === 0 ? 0 : 240 }),
    assertOwned,
    heldForMs: Infinity,
  };
}

async function write(partition: PartitionStore): Promise<unknown> {
  const body = new RowBinaryWriter();
  body.u32(1);
  const blocks: TableBlock[] = [{ table: rows, rows: 1, body: body.take() }];
  const writer = new ExactlyOnceWriter({ shards: [], tables: [rows], transforms: '1' }, [nothingArrives]);
  const open = await writer.open(partition, { rebuild: async () => blocks, signal: new AbortController().signal });
  return open.write({ start: 0, end: 9, blocks }).catch((error: unknown) => error);
}

const unexpected = () => Promise.reject(new Error('nothing may be sent'));
const nothingArrives = {
  insert: unexpected,
  feedViews: unexpected,
  countPositions: unexpected,
  countMissing: unexpected,
  countOutdated: unexpected,
  countRunning: unexpected,
  kill: unexpected,
};

describe('an intent that is not read back as it was committed', () => {
  it('means that the partition is lost, if another owner has committed', async () => {
    const lost = new PartitionLostError('topic', 1, 'group');
    expect(await write(overtaken(() => Promise.reject(lost)))).toBe(lost);
  });

  it('stops the writer if it still owns the partition, and nothing is inserted', async () => {
    const error = await write(overtaken(async () => undefined));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(String(error)).toContain('offset 240 without one was read back; nothing was inserted');
  });
});
