/**
 * What an orderly end may take, milliseconds: the one place for these numbers. A part that is not done by then lets go
 * by itself, which loses nothing that was acknowledged; `chancery up`, which ends its parts one after the other, kills
 * only what does not even do that.
 */
export const STOP_MS = {
  /** The collector waits this long for the bus to have what was received. */
  collector: 1900,
  /** The worker brings this long into ClickHouse what it took from the bus. */
  worker: 1000,
  /** ClickHouse finishes this long what it was asked. */
  clickhouse: 900,
  /** From letting go to the end of the process. */
  leaving: 300,
  /** Everything, from Ctrl-C to the shell's prompt. */
  total: 5000,
} as const;
