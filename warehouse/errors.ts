import { ChanceryError, UnavailableError } from '../core/index.js';

/** ClickHouse could not be reached, or the connection was lost before the response was complete. */
export class ConnectionError extends UnavailableError {}

/** Error codes of ClickHouse. */
export const UNKNOWN_TABLE = 60;
export const UNKNOWN_DATABASE = 81;

/** ClickHouse responded with an error. `code` is ClickHouse's error code; it decides whether a retry makes sense. */
export class StatementError extends ChanceryError {
  readonly retryable: boolean;

  constructor(
    message: string,
    readonly code: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.retryable = !PERMANENT_CODES.has(code);
  }
}

/**
 * Codes of errors that depend only on the statement, the rows, the tables and the rights, so that a retry would fail the
 * same way. Every other code may be transient (load, memory, disk, network, replication, a server that starts or stops).
 */
const PERMANENT_CODES: ReadonlySet<number> = new Set([
  8, // THERE_IS_NO_COLUMN
  10, // NOT_FOUND_COLUMN_IN_BLOCK
  16, // NO_SUCH_COLUMN_IN_TABLE
  20, // NUMBER_OF_COLUMNS_DOESNT_MATCH
  36, // BAD_ARGUMENTS
  42, // NUMBER_OF_ARGUMENTS_DOESNT_MATCH
  43, // ILLEGAL_TYPE_OF_ARGUMENT
  44, // ILLEGAL_COLUMN
  46, // UNKNOWN_FUNCTION
  47, // UNKNOWN_IDENTIFIER
  48, // NOT_IMPLEMENTED
  50, // UNKNOWN_TYPE
  53, // TYPE_MISMATCH
  57, // TABLE_ALREADY_EXISTS
  UNKNOWN_TABLE,
  62, // SYNTAX_ERROR
  63, // UNKNOWN_AGGREGATE_FUNCTION
  69, // ARGUMENT_OUT_OF_BOUND
  70, // CANNOT_CONVERT_TYPE
  73, // UNKNOWN_FORMAT
  80, // INCORRECT_QUERY
  UNKNOWN_DATABASE,
  82, // DATABASE_ALREADY_EXISTS
  115, // UNKNOWN_SETTING
  117, // INCORRECT_DATA
  122, // INCOMPATIBLE_COLUMNS
  164, // READONLY
  192, // UNKNOWN_USER
  193, // WRONG_PASSWORD
  194, // REQUIRED_PASSWORD
  291, // DATABASE_ACCESS_DENIED
  344, // SUPPORT_IS_DISABLED
  349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
  386, // NO_COMMON_TYPE
  407, // DECIMAL_OVERFLOW
  452, // SETTING_CONSTRAINT_VIOLATION
  469, // VIOLATED_CONSTRAINT
  497, // ACCESS_DENIED
  516, // AUTHENTICATION_FAILED
  524, // ALTER_OF_COLUMN_IS_FORBIDDEN
]);

/** A response without an error that lacks rows: ClickHouse sends an empty one when its disk is full. */
export const incompleteResponse = (url: string): ConnectionError =>
  new ConnectionError(`the response from ClickHouse at ${url} is incomplete; check that its disk is not full`);

/** `Code: 60. DB::Exception: Table x does not exist. (UNKNOWN_TABLE) (version …)` as one line without code and version. */
export function serverMessage(text: string): string {
  return text
    .replace(/\s*\n\s*/g, ' ')
    .replace(/^Code: \d+\. (DB::Exception: )?/, '')
    .replace(/ \(version [^)]*\)\s*$/, '')
    .slice(0, 1000);
}
