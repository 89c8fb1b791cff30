/**
 * Maximum durations of a clean shutdown, milliseconds. A service that takes longer abandons its work, which loses nothing
 * that was acknowledged. `chancery up` stops its services one after the other and kills a service that takes longer.
 */
export const STOP_MS = {
  /** The collector waits for the bus to acknowledge what was received. */
  collector: 1900,
  /** The worker writes the records it has read from the bus to ClickHouse. */
  worker: 1000,
  /** ClickHouse finishes its queries. */
  clickhouse: 900,
  /** From abandoning the work to the end of the process. */
  exit: 300,
  /** In total, from Ctrl-C to the shell's prompt. */
  total: 5000,
} as const;
