import { describeError, isRetryable, type Logger, OutageLog, retry } from '../core/index.js';
import type { Bus, TopicOptions } from './bus.js';

const MAX_RETRY_DELAY_MS = 2000;

/** Creates the topics that do not exist, as configured. While the bus is unavailable it retries and logs that. */
export async function ensureTopics(
  bus: Bus,
  topics: readonly string[],
  options: TopicOptions,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const outage = new OutageLog(log, 'the bus is available');
  for (const topic of topics) {
    await retry(() => bus.ensureTopic(topic, options), {
      attempts: Number.POSITIVE_INFINITY,
      capMs: MAX_RETRY_DELAY_MS,
      signal,
      retryable: isRetryable,
      onRetry: (error) => outage.failed(describeError(error)),
    });
  }
  outage.succeeded();
}
