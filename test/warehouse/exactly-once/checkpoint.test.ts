import { describe, expect, it } from 'vitest';
import {
  type Checkpoint,
  CheckpointedPartition,
  decodeCheckpoint,
  encodeCheckpoint,
  type PartitionStore,
} from '../../../warehouse/index.js';

const ID = 'd0000000-0000-4000-8000-000000000001';
const START: Checkpoint = { v: 1, databases: { 0: ID } };

interface Commit {
  readonly offset: number;
  readonly intent: string | undefined;
  readonly checkpoint: Checkpoint;
}

/** A partition that records its commits. */
function recorded(checkpoint: Checkpoint = START, committed: { offset: number; intent?: string } = { offset: 0 }) {
  const commits: Commit[] = [];
  const inner: PartitionStore = {
    topic: 't',
    partition: 0,
    log: 'L',
    heldForMs: 1000,
    committed: async () => committed,
    assertOwned: async () => undefined,
    commit: async (offset, intent, text = '') => {
      commits.push({ offset, intent, checkpoint: decodeCheckpoint(text, 't/0') });
    },
  };
  return { commits, partition: new CheckpointedPartition(inner, committed, checkpoint, ['raw', 'dead']) };
}

const intent = (end: number, n: Record<string, number>, shard = 0) =>
  JSON.stringify({ v: 1, end, n, attempt: 0, transforms: '1', shard });

describe('a checkpoint', () => {
  it('has the last batch with rows from the commit on that ends it, with the next intent or without one', async () => {
    const { commits, partition } = recorded();
    await partition.commit(0, intent(4, { raw: 3, dead: 1, ticks: 9 }));
    await partition.commit(5, intent(7, { raw: 2 }, 1));
    await partition.commit(8);
    await partition.commit(12);
    const [first, second] = [
      { start: 0, end: 4, shard: 0, rows: 4 },
      { start: 5, end: 7, shard: 1, rows: 2 },
    ];
    expect(commits.map(({ offset, checkpoint }) => [offset, checkpoint])).toEqual([
      [0, START],
      [5, { ...START, last: first }],
      [8, { ...START, last: second }],
      [12, { ...START, last: second }],
    ]);
    expect(commits.map((commit) => commit.intent !== undefined)).toEqual([true, true, false, false]);
  });

  it('has the batch that a former owner began, once it is finished', async () => {
    const { commits, partition } = recorded(START, { offset: 3, intent: intent(5, { dead: 1 }) });
    await partition.commit(3, intent(5, { dead: 1 }));
    await partition.commit(6);
    expect(commits.map(({ checkpoint }) => checkpoint.last)).toEqual([
      undefined,
      { start: 3, end: 5, shard: 0, rows: 1 },
    ]);
  });

  it('has the end of a rebuild until it is reached', async () => {
    const { commits, partition } = recorded({ ...START, storedBefore: 8 });
    expect(partition.storedBefore).toBe(8);
    for (const offset of [4, 7, 8, 9]) await partition.commit(offset);
    expect(commits.map(({ checkpoint }) => checkpoint.storedBefore)).toEqual([8, 8, undefined, undefined]);
  });

  it('fits into the metadata of a Kafka offset together with an intent', () => {
    const last = { start: 2 ** 52, end: 2 ** 52 + 1e6, shard: 99, rows: 1e6 };
    const databases = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [i, ID]));
    const text = encodeCheckpoint({ v: 1, databases, last, storedBefore: 2 ** 52 });
    expect(text).not.toContain(';');
    expect(text.length).toBeLessThan(700);
    expect(decodeCheckpoint(text, 't/0')).toEqual({ v: 1, databases, last, storedBefore: 2 ** 52 });
  });

  it('of another version is refused', () => {
    expect(() => decodeCheckpoint('{"v":2}', 't/0')).toThrow(/not a checkpoint of this version of Chancery/);
  });
});
