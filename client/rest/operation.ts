import type { RestRequest } from '../../core/index.js';
import type { DecodedList, InvalidBody } from '../decode/result.js';

/** The request of one call of an operation. */
export interface OperationRequest {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Fields of the raw record's request beyond operation, path, query and body. */
  readonly about?: Pick<RestRequest, 'page' | 'asset' | 'event' | 'market' | 'period' | 'from' | 'to'>;
}

/** One REST operation of the interface: how its request is built and its response decoded. */
export interface Operation<P, T> {
  /** Its name in raw records and error messages. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  /** @throws UsageError for invalid parameters */
  buildRequest(params: P): OperationRequest;
  decode(body: unknown, params: P): DecodedList<T> | InvalidBody;
}
