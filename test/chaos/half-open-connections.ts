import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Opens the connections, again whenever the server closes one, for a time; then reports, and holds what is open. */
const SCRIPT = `
  import { connect } from 'node:net';
  const [port, count, ms] = process.argv.slice(1).map(Number);
  const end = performance.now() + ms;
  let opened = 0;
  const open = () => {
    const socket = connect(port, '127.0.0.1', () => {
      opened += 1;
      socket.write('POST / HTTP/1.1\\r\\nHost: localhost\\r\\n');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => performance.now() < end && setTimeout(open, 2000));
  };
  for (let i = 0; i < count; i++) open();
  setTimeout(() => console.log(opened), ms);
  process.stdin.resume().on('end', () => process.exit());
`;

export interface HalfOpenConnections {
  /** Resolves with the number of opened connections when the last one was opened. */
  readonly last: Promise<number>;
  close(): Promise<void>;
}

/** Connections that never complete the header of a request, from a process of their own. */
export function openHalf(port: number, count: number, ms: number): HalfOpenConnections {
  const args = ['--input-type=module', '-e', SCRIPT, String(port), String(count), String(ms)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const last = once(createInterface(child.stdout), 'line').then(([line]) => Number(line));
  return {
    last,
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}
