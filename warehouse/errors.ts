import { ChanceryError, UnavailableError } from '../core/index.js';

/** ClickHouse could not be reached, or the connection was lost before the response was complete. */
export class ConnectionError extends UnavailableError {}

/** ClickHouse responded with an error. `code` is ClickHouse's error code; it decides whether a retry makes sense. */
export class StatementError extends ChanceryError {
  readonly retryable: boolean;

  constructor(
    message: string,
    readonly code: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.retryable = RETRYABLE_CODES.has(code);
  }
}

/**
 * Codes of transient conditions, or of conditions that are fixed outside of Chancery: load, memory, disk, network,
 * replication, a server that starts or stops. A retry after any other code would fail the same way.
 */
const RETRYABLE_CODES: ReadonlySet<number> = new Set([
  3, // UNEXPECTED_END_OF_FILE
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR
  75, // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  76, // CANNOT_OPEN_FILE
  95, // CANNOT_READ_FROM_SOCKET
  96, // CANNOT_WRITE_TO_SOCKET
  99, // UNKNOWN_PACKET_FROM_CLIENT
  159, // TIMEOUT_EXCEEDED
  173, // CANNOT_ALLOCATE_MEMORY
  198, // DNS_ERROR
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  203, // NO_FREE_CONNECTION
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  216, // QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING
  225, // NO_ZOOKEEPER
  236, // ABORTED
  241, // MEMORY_LIMIT_EXCEEDED
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  244, // UNEXPECTED_ZOOKEEPER_ERROR
  252, // TOO_MANY_PARTS
  279, // ALL_CONNECTION_TRIES_FAILED
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  319, // UNKNOWN_STATUS_OF_INSERT
  335, // BARRIER_TIMEOUT
  373, // SESSION_IS_LOCKED
  394, // QUERY_WAS_CANCELLED
  425, // SYSTEM_ERROR
  439, // CANNOT_SCHEDULE_TASK
  473, // DEADLOCK_AVOIDED
  499, // S3_ERROR
  745, // SERVER_OVERLOADED
  999, // KEEPER_EXCEPTION
]);

/** `Code: 60. DB::Exception: Table x does not exist. (UNKNOWN_TABLE) (version …)` as one line without code and version. */
export function serverMessage(text: string): string {
  return text
    .replace(/\s*\n\s*/g, ' ')
    .replace(/^Code: \d+\. (DB::Exception: )?/, '')
    .replace(/ \(version [^)]*\)\s*$/, '')
    .slice(0, 1000);
}
