import type { ServerResponse } from 'node:http';

/**
 * Calls back once when a response is closed, or its connection: a response that waits behind another one of its connection
 * (pipelining) is not told when that closes.
 */
export function onceClosed(response: ServerResponse, callback: () => void): void {
  const { socket } = response.req;
  const closed = () => {
    response.removeListener('close', closed);
    socket.removeListener('close', closed);
    callback();
  };
  response.once('close', closed);
  socket.once('close', closed);
  if (socket.destroyed) closed();
}
