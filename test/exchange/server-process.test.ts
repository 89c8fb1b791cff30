import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { commandLine } from '../cli/command.js';

const program = join(import.meta.dirname, '../../dist/cli/main.js');

function exchange(...flags: string[]): { child: ChildProcess; stdout: () => string; stderr: () => string } {
  if (!existsSync(program)) throw new Error('run `npm run build` first');
  const child = spawn(process.execPath, [program, 'exchange', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  return { child, stdout: () => out, stderr: () => err };
}

async function readyLine(running: ReturnType<typeof exchange>) {
  while (!running.stdout().includes('\n')) await once(running.child.stdout ?? running.child, 'data');
  return JSON.parse(running.stdout());
}

describe('chancery exchange', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`prints exactly one line of JSON on stdout, serves, and ends with exit code 0 on ${signal}`, async () => {
      const running = exchange('--port', '0', '--events', '2', '--bots', '2');
      const ready = await readyLine(running);
      expect(ready).toMatchObject({ ready: true, accounts: [{}, {}, {}] });
      expect((await fetch(`${ready.url}/api/coins`)).status).toBe(200);
      const socket = new WebSocket(`${ready.ws}/event/ws`);
      await once(socket, 'open');
      const closed = once(socket, 'close');
      running.child.kill(signal);
      const [code, killed] = await once(running.child, 'exit');
      expect([code, killed]).toEqual([0, null]);
      expect((await closed)[0]).toBe(1001);
      expect(running.stdout()).toBe(`${JSON.stringify(ready)}\n`);
    });
  }

  it('reports a taken port and an invalid option with one line on stderr and exit code 2', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const wrong: [string[], RegExp][] = [
      [['--port', String(port)], /port \d+ on 127\.0\.0\.1 is taken/],
      [['--port', 'http'], /--port is "http"/],
      [['--quirks', 'heartbeats=1'], /did you mean heartbeat\?/],
      [['--prot', '1'], /--prot/],
    ];
    for (const [flags, message] of wrong) {
      const { code, out, err } = await commandLine(['exchange', ...flags]);
      expect([flags, code, out]).toEqual([flags, 2, '']);
      expect(err).toMatch(message);
      expect(err.trimEnd().split('\n')).toHaveLength(1);
    }
  });
});
