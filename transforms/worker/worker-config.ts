import type { TopicOptions } from '../../bus/index.js';

/** How a worker processes records. */
export interface WorkerConfig {
  /** Consumer group. */
  readonly group: string;
  /** Whether it continues after records were lost from the bus. */
  readonly acceptLoss: boolean;
  /** Maximum number of rows in a batch. */
  readonly batchRows: number;
  /** How long a batch of prices or chances collects rows, milliseconds. */
  readonly batchDelayMs: number;
  /** Retention time of bodies in raw_records, days; 0 stores none. */
  readonly bodyDays: number;
  /** Key of the hashes that usernames are stored as; undefined stores them as they are. */
  readonly usernameKey: string | undefined;
  /** For topics that do not exist yet. */
  readonly topics: TopicOptions;
}
