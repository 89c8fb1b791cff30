import { UnavailableError } from '../../core/index.js';
import { encodeIntent, type Intent } from './intent.js';
import type { WriterContext } from './writer-context.js';

/** A commit did not stay: the partition is somebody else's, or this consumer was stopped. */
export class CommitNotKeptError extends UnavailableError {}

/**
 * Commits `offset` with the intent of the batch that begins there, and makes sure that it was really kept.
 * @throws CommitNotKeptError when it was not; what the partition throws when it is not ours any more
 */
export async function commitIntent(context: WriterContext, offset: number, intent: Intent): Promise<void> {
  const { partition } = context;
  const text = encodeIntent(intent);
  await partition.commit(offset, text);
  // A commit that returned may still not have been kept: a consumer that was stopped returns silently.
  const kept = await partition.committed();
  if (kept.offset === offset && kept.intent === text) return;
  // Another owner may have gone on since then: the partition says so, and that is no failure.
  await partition.assertOwned();
  throw new CommitNotKeptError(
    `offset ${offset} of ${partition.topic}/${partition.partition} was committed with an intent, but offset ` +
      `${kept.offset} ${kept.intent === undefined ? 'without one' : 'with another'} was read back; nothing was inserted`,
  );
}
