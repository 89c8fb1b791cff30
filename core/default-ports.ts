/** Default ports of an instance's services; if one is taken, `up` uses the next free one. */
export const DEFAULT_PORTS = { exchange: 9100, clickhouse: 8123, viewer: 8080 } as const;
