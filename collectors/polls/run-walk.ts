import type { WalkReport } from '../../client/index.js';
import { describeError, isRetryable } from '../../core/index.js';
import type { Poll } from './poll.js';

/** A walk over pages, whichever. */
interface Walk<A> extends AsyncIterable<A> {
  readonly report: WalkReport;
}

export interface WalkResult {
  readonly report: WalkReport;
  /** What ended it early. */
  readonly failure?: unknown;
}

/**
 * Reads a walk to its end with everything durable on the bus, and leaves the receipt. Rejects only with the signal's
 * reason; then there is no receipt.
 */
export async function runWalk<A>(
  poll: Poll,
  walk: Walk<A>,
  signal: AbortSignal,
  onPage: (answer: A) => void,
): Promise<WalkResult> {
  let failure: unknown;
  try {
    for await (const answer of walk) {
      onPage(answer);
      await poll.published();
    }
    // Pages that were only compared are answers too.
    await poll.published();
  } catch (error) {
    signal.throwIfAborted();
    failure = error;
    // What was read before it failed has been seen by the caller, who may store what it knows.
    await poll.published();
  }
  const { expected, got, unique, pages, truncated, complete, cause } = walk.report;
  const counts = { expected, got, unique, pages, truncated };
  if (failure === undefined) poll.finish({ ...counts, outcome: complete ? 'complete' : 'incomplete', cause });
  else {
    const isOutage = isRetryable(failure);
    poll.finish({ ...counts, outcome: 'failed', cause: describeError(failure) }, { isOutage });
  }
  return failure === undefined ? { report: walk.report } : { report: walk.report, failure };
}
