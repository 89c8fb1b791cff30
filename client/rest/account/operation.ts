import type { Access } from '../../auth/authorizer.js';
import type { DecodedList, Invalid } from '../../decode/result.js';
import type { LosslessJson } from '../../wire/index.js';
import type { Call } from '../operation.js';

/** One REST operation that reads from an account: how it is asked, with which credentials, and how its answer is read. */
export interface AccountOperation<P, T> {
  /** Its name in raw records and error messages. */
  readonly name: string;
  readonly method: 'GET';
  readonly access: Access;
  /** @throws UsageError for parameters that cannot be sent */
  call(params: P): Call;
  /** Answers that are one record are read as a list of one. */
  decode(body: LosslessJson): DecodedList<T> | Invalid;
}
