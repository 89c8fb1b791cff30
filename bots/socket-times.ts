/** Times of the WebSocket connections of bots, milliseconds. A stale connection is detected after two intervals of PING messages. */
export const SOCKET_TIMES = { keepAliveMs: 5000, reconnectCapMs: 2000 } as const;
