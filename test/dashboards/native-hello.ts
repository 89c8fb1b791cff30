import { once } from 'node:events';
import { connect } from 'node:net';

const PROTOCOL_REVISION = 54_460;
const HELLO = 0;
const EXCEPTION = 2;

/** Logs in over ClickHouse's native protocol, as Grafana's driver does; true when the server says hello, false when it refuses. */
export async function nativeHello(port: number, user: string, password: string): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const hello = [HELLO, 'chancery test', 1, 1, PROTOCOL_REVISION, 'chancery', user, password];
  socket.write(Buffer.concat(hello.map((part) => (typeof part === 'number' ? variable(part) : text(part)))));
  const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(10_000) })) as [Buffer];
  socket.destroy();
  if (answer[0] !== HELLO && answer[0] !== EXCEPTION) throw new Error(`the server answered ${answer.toString('hex')}`);
  return answer[0] === HELLO;
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
