import { describeError, UnavailableError } from '../../core/index.js';
import type { WriterContext } from './writer-context.js';

/** The process was held up between the check of its ownership and the send: the check is repeated. */
class StaleOwnershipError extends UnavailableError {}

/** What the partition threw when it was asked whether it is ours: the writer stops with it. */
export class NotOwnedError extends Error {
  override readonly name = 'NotOwnedError';

  constructor(override readonly cause: unknown) {
    super(`the partition is not ours: ${describeError(cause)}`);
  }
}

/**
 * Makes sure that the partition is ours, and answers a check to be called right before the first byte of an insert is
 * written to an open connection: it fails when the process was paused in between for so long that the partition may
 * soon be another's. A quarter of the time in which it cannot be is left for the insert's way. What is left is a pause between that
 * check and the system call that follows it. It doubles nothing either: shorter than the server keeps idle connections,
 * the insert meets the token that our successor used; longer, it finds its connection closed.
 */
export async function assertOwned({ partition, clock, timing }: WriterContext): Promise<() => void> {
  const askedAt = clock.nowMs();
  try {
    await partition.assertOwned();
  } catch (error) {
    throw new NotOwnedError(error);
  }
  const sureForMs = Math.min(timing.ownershipMs, 0.75 * partition.heldForMs);
  return () => {
    if (clock.nowMs() - askedAt <= sureForMs) return;
    throw new StaleOwnershipError(
      `partition ${partition.partition} of ${partition.topic} was last known to be ours more than ${sureForMs} ms ago`,
    );
  };
}
