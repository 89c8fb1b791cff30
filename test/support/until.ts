import { setTimeout as delay } from 'node:timers/promises';

const FIRST_DELAY_MS = 2;
const MAX_DELAY_MS = 50;

/**
 * Asks again until the answer is true; a text says what is still missing.
 * @param withinMs ends what hangs; more than a busy machine needs
 */
export async function until(
  question: () => boolean | string | Promise<boolean | string>,
  withinMs = 100_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)) {
    const answer = await question();
    if (answer === true) return;
    if (performance.now() > deadline) throw new Error(`still not so after ${withinMs} ms: ${answer}`);
    await delay(delayMs);
  }
}
