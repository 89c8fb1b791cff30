import type { AuthMethod } from '../../auth/authorizer.js';
import type { DecodedList, InvalidBody } from '../../decode/result.js';
import type { LosslessJson } from '../../wire/index.js';
import type { OperationRequest } from '../operation.js';

/** One REST operation that reads from an account: its request, its credentials, and how its response is decoded. */
export interface AccountOperation<P, T> {
  /** Its name in raw records and error messages. */
  readonly name: string;
  readonly method: 'GET';
  readonly authMethod: AuthMethod;
  /** @throws UsageError for invalid parameters */
  buildRequest(params: P): OperationRequest;
  /** A response that is one record is decoded as a list of one. */
  decode(body: LosslessJson): DecodedList<T> | InvalidBody;
}
