import { ChanceryError, describeError, retry, UnavailableError, UsageError } from '../../core/index.js';
import { isTransientCode, nameOf } from './protocol/error-codes.js';
import { explain } from './protocol/kafkajs-connection.js';

/** A broker answered with a retriable error: a leader moved, a replica is behind, a coordinator is loading. */
export class TransientError extends UnavailableError {
  constructor(
    doing: string,
    readonly code: number,
  ) {
    super(`Kafka cannot ${doing} now: ${nameOf(code)}: ${explain(code)}`);
  }
}

/** A broker answered with an error that retrying does not change. */
export class RefusedError extends UsageError {
  constructor(
    doing: string,
    readonly code: number,
    hint = '',
  ) {
    super(`Kafka refuses to ${doing}: ${nameOf(code)}: ${explain(code)}${hint && `; ${hint}`}`);
  }
}

/** No response: the connection could not be made, was closed, or timed out. */
export class NoResponseError extends UnavailableError {}

/** Throws the error that a code stands for; 0 stands for success. */
export function throwOn(code: number, doing: string, hint?: string): void {
  if (code === 0) return;
  throw isTransientCode(code) ? new TransientError(doing, code) : new RefusedError(doing, code, hint);
}

/** The error class and message for a failure of a connection. */
export function connectionFault(error: unknown, broker: string, doing: string): ChanceryError {
  if (error instanceof ChanceryError) return error;
  const { name, code } = error as { name?: string; code?: string };
  if (name === 'KafkaJSSASLAuthenticationError' || name === 'KafkaJSSASLMechanismNotSupported') {
    return new UsageError(
      `Kafka at ${broker} refuses the login: ${describeError(error)}; check --kafka-sasl, --kafka-user and the password`,
      { cause: error },
    );
  }
  const text = describeError(error);
  if (/CERT|SSL|TLS|ALTNAME/.test(code ?? '') || /certificate|SSL routines/.test(text)) {
    return new UsageError(
      `the TLS handshake with Kafka at ${broker} failed: ${text}; check --kafka-tls and its files`,
      {
        cause: error,
      },
    );
  }
  return new NoResponseError(`Kafka at ${broker} did not answer the request to ${doing}: ${text}`, { cause: error });
}

/** Whether a retry may succeed. */
export const isTransient = (error: unknown): boolean =>
  error instanceof TransientError || error instanceof NoResponseError;

export interface Deadline {
  readonly signal?: AbortSignal | undefined;
  /** No retry starts later than this after the first try, milliseconds. */
  readonly withinMs: number;
}

/** Retries with exponential backoff while the error is transient and the deadline has not passed. */
export function retryWithin<T>(work: (attempt: number) => Promise<T>, deadline: Deadline): Promise<T> {
  const end = performance.now() + deadline.withinMs;
  return retry(work, {
    attempts: Infinity,
    signal: deadline.signal,
    baseMs: 20,
    capMs: 1000,
    retryable: (error) => isTransient(error) && performance.now() < end,
  });
}
