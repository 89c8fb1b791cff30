import { ChanceryError, describeError, retry, UnavailableError, UsageError } from '../../core/index.js';
import { isPassing, nameOf } from './protocol/error-codes.js';
import { explain } from './protocol/kafkajs-connection.js';

/** A broker answered with an error that passes by itself: a leader moved, a replica is behind, a group is loading. */
export class PassingError extends UnavailableError {
  constructor(
    doing: string,
    readonly code: number,
  ) {
    super(`Kafka cannot ${doing} at the moment: ${nameOf(code)}: ${explain(code)}`);
  }
}

/** A broker answered with an error that stays until somebody changes something. */
export class RefusedError extends UsageError {
  constructor(
    doing: string,
    readonly code: number,
    hint = '',
  ) {
    super(`Kafka refuses to ${doing}: ${nameOf(code)}: ${explain(code)}${hint && `; ${hint}`}`);
  }
}

/** No answer came: the connection could not be made, broke, or stayed silent for too long. */
export class NoAnswerError extends UnavailableError {}

/** Throws what an error code means; 0 means nothing. */
export function throwOn(code: number, doing: string, hint?: string): void {
  if (code === 0) return;
  throw isPassing(code) ? new PassingError(doing, code) : new RefusedError(doing, code, hint);
}

/** What went wrong on a connection, in our words. */
export function connectionFault(error: unknown, broker: string, doing: string): ChanceryError {
  if (error instanceof ChanceryError) return error;
  const { name, code } = error as { name?: string; code?: string };
  if (name === 'KafkaJSSASLAuthenticationError' || name === 'KafkaJSSASLMechanismNotSupported') {
    return new UsageError(
      `Kafka at ${broker} does not let us in: ${describeError(error)}; check --kafka-sasl, --kafka-user and the password`,
      { cause: error },
    );
  }
  const text = describeError(error);
  if (/CERT|SSL|TLS|ALTNAME/.test(code ?? '') || /certificate|SSL routines/.test(text)) {
    return new UsageError(`Kafka at ${broker} and we do not agree on TLS: ${text}; check --kafka-tls and its files`, {
      cause: error,
    });
  }
  return new NoAnswerError(`Kafka at ${broker} gave no answer when asked to ${doing}: ${text}`, { cause: error });
}

/** Whether trying again may help. */
export const passes = (error: unknown): boolean => error instanceof PassingError || error instanceof NoAnswerError;

export interface Patience {
  readonly signal?: AbortSignal | undefined;
  /** How long to go on trying, milliseconds. */
  readonly forMs: number;
}

/** Tries again, with growing pauses, while the failure is one that passes and time is left. */
export function patiently<T>(work: (attempt: number) => Promise<T>, patience: Patience): Promise<T> {
  const deadline = performance.now() + patience.forMs;
  return retry(work, {
    attempts: Infinity,
    signal: patience.signal,
    baseMs: 20,
    capMs: 1000,
    retryable: (error) => passes(error) && performance.now() < deadline,
  });
}
