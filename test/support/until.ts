import { setTimeout as delay } from 'node:timers/promises';

const FIRST_DELAY_MS = 2;
const MAX_DELAY_MS = 50;
/** The longest pause, as a multiple of the time that the question took: questions use the processor that what they wait for needs. */
const MAX_PAUSES = 8;
const MAX_PAUSE_MS = 1000;

/**
 * Polls, less and less often, until the result is true; a text says what is still missing.
 * @param withinMs timeout; more than a busy machine needs
 */
export async function until(
  question: () => boolean | string | Promise<boolean | string>,
  withinMs = 300_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  let delayMs = FIRST_DELAY_MS;
  for (let pauses = 1; ; pauses = Math.min(2 * pauses, MAX_PAUSES)) {
    const askedAt = performance.now();
    const answer = await question();
    if (answer === true) return;
    const tookMs = performance.now() - askedAt;
    if (performance.now() > deadline) throw new Error(`still not so after ${withinMs} ms: ${answer}`);
    await delay(Math.max(delayMs, Math.min(pauses * tookMs, MAX_PAUSE_MS)));
    delayMs = Math.min(2 * delayMs, MAX_DELAY_MS);
  }
}
