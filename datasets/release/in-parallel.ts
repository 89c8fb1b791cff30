import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';

/** Each query of a file has memory of its own, and uses one thread most of the time. */
const MAX_QUERIES = 2;

/** Results of tasks that each wait for one query of the embedded ClickHouse at a time, in their order. */
export async function inParallel<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]> {
  const queue = new PQueue({ concurrency: Math.min(MAX_QUERIES, availableParallelism()) });
  try {
    return await queue.addAll(tasks);
  } finally {
    queue.clear();
  }
}
