import { once } from 'node:events';
import { connect } from 'node:net';

const PROTOCOL_REVISION = 54_460;
const HELLO = 0;
const EXCEPTION = 2;

/** Logs in over ClickHouse's native protocol; true when the server accepts, false when it rejects the login or closes the connection. */
export async function nativeHello(port: number, user: string, password: string): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(helloOf(user, password));
  const signal = AbortSignal.timeout(10_000);
  socket.on('error', () => undefined);
  const answer = await Promise.race([
    once(socket, 'data', { signal }).then(([data]) => data as Buffer),
    once(socket, 'close', { signal }).then(() => undefined),
  ]);
  socket.destroy();
  if (!answer) return false;
  if (answer[0] !== HELLO && answer[0] !== EXCEPTION) throw new Error(`the server answered ${answer.toString('hex')}`);
  return answer[0] === HELLO;
}

/** The first packet of a client. */
export function helloOf(user: string, password: string): Buffer {
  const hello = [HELLO, 'chancery test', 1, 1, PROTOCOL_REVISION, 'chancery', user, password];
  return Buffer.concat(hello.map((part) => (typeof part === 'number' ? variable(part) : text(part))));
}

/** An unsigned number in groups of seven bits, the lowest first. */
function variable(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    bytes.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) return Buffer.from(bytes);
  }
}

const text = (value: string): Buffer => Buffer.concat([variable(Buffer.byteLength(value)), Buffer.from(value)]);
