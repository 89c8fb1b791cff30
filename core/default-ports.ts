/** Ports on which the parts of an instance are looked for first; where `up` finds one taken, it takes the next free one. */
export const DEFAULT_PORTS = { exchange: 9100, clickhouse: 8123 } as const;
