import type { AuthMethod } from '../../auth/authorizer.js';
import type { DecodedList, InvalidBody } from '../../decode/result.js';
import type { LosslessJson } from '../../wire/index.js';
import type { OperationRequest } from '../operation.js';

/** One REST operation that reads from an account: how it is asked, with which credentials, and how its answer is read. */
export interface AccountOperation<P, T> {
  /** Its name in raw records and error messages. */
  readonly name: string;
  readonly method: 'GET';
  readonly authMethod: AuthMethod;
  /** @throws UsageError for parameters that cannot be sent */
  buildRequest(params: P): OperationRequest;
  /** Answers that are one record are read as a list of one. */
  decode(body: LosslessJson): DecodedList<T> | InvalidBody;
}
