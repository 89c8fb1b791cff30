/** Clocks of two processes differ by at most this. */
export const CLOCKS_MICROS = 20_000;

/** What was received after a fault that the exchange timed, as SQL for a comparison. */
export const timeSql = (micros: number): string => `fromUnixTimestamp64Micro(${Math.floor(micros - CLOCKS_MICROS)})`;
