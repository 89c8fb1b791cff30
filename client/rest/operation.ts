import type { RestRequest } from '../../core/index.js';
import type { DecodedList, InvalidBody } from '../decode/result.js';

/** What one call of an operation sends. */
export interface OperationRequest {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** What the raw record says about the call, beyond operation, path, query and body. */
  readonly about?: Pick<RestRequest, 'page' | 'asset' | 'event' | 'market' | 'period' | 'from' | 'to'>;
}

/** One REST operation of the interface: how it is asked and how its answer is read. */
export interface Operation<P, T> {
  /** Its name in raw records and error messages. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  /** @throws UsageError for parameters that cannot be sent */
  buildRequest(params: P): OperationRequest;
  decode(body: unknown, params: P): DecodedList<T> | InvalidBody;
}
