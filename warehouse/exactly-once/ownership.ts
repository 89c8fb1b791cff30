import { describeError, UnavailableError } from '../../core/index.js';
import type { WriterContext } from './writer-context.js';

/** Too much time passed between the check of the ownership and the send: the check is repeated. */
class StaleOwnershipError extends UnavailableError {}

/** The partition's `assertOwned` threw: the writer stops with its error. */
export class NotOwnedError extends Error {
  override readonly name = 'NotOwnedError';

  constructor(override readonly cause: unknown) {
    super(`this worker does not own the partition: ${describeError(cause)}`);
  }
}

/**
 * Verifies that this worker owns the partition, and returns a second check to be called right before the first byte of
 * an insert is written to an open connection. That check fails when the process was paused in between for so long that
 * the partition may soon be reassigned; a quarter of the guaranteed time remains for the insert to reach the server. A
 * pause between the second check and the system call duplicates nothing either: if it is shorter than the server's
 * keep-alive timeout, the server knows the token from the next owner; if longer, the connection is closed.
 */
export async function assertOwned({ partition, clock, timing }: WriterContext): Promise<() => void> {
  const checkedAt = clock.elapsedMs();
  try {
    await partition.assertOwned();
  } catch (error) {
    throw new NotOwnedError(error);
  }
  const validForMs = Math.min(timing.ownershipMs, 0.75 * partition.heldForMs);
  return () => {
    if (clock.elapsedMs() - checkedAt <= validForMs) return;
    throw new StaleOwnershipError(
      `the ownership of ${partition.topic}/${partition.partition} was last confirmed more than ${validForMs} ms ago`,
    );
  };
}
