import { UnavailableError } from '../../core/index.js';
import { encodeIntent, type Intent } from './intent.js';
import type { WriterContext } from './writer-context.js';

/** A commit returned but was not stored: the partition was reassigned, or this consumer was stopped. */
class CommitNotStoredError extends UnavailableError {}

/**
 * Commits `offset` with the intent of the batch that begins there, and reads it back to verify that it was stored.
 * @throws CommitNotStoredError when it was not; the partition's error when it was reassigned
 */
export async function commitIntent(context: WriterContext, offset: number, intent: Intent): Promise<void> {
  const { partition } = context;
  const text = encodeIntent(intent);
  await partition.commit(offset, text);
  // A commit that returned may not have been stored: some clients return silently after a stop.
  const stored = await partition.committed();
  if (stored.offset === offset && stored.intent === text) return;
  // A new owner may have committed since: then this throws the partition's own error, which is no failure.
  await partition.assertOwned();
  throw new CommitNotStoredError(
    `offset ${offset} of ${partition.topic}/${partition.partition} was committed with an intent, but offset ` +
      `${stored.offset} ${stored.intent === undefined ? 'without one' : 'with another'} was read back; nothing was inserted`,
  );
}
