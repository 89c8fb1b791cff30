import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { until } from '../support/until.js';

it('Ctrl-C during a benchmark prints what was completed, in no more than a line about the rest', async () => {
  const args = ['dist/bench/main.js', '--quick', 'client-decode', 'bus-append', 'engine'];
  // A group of its own, which gets the signal as from a terminal.
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const [exited, errors] = [once(child, 'exit'), text(child.stderr)];
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  await until(() => out.includes('\nbus-append: '));
  process.kill(-(child.pid ?? 0), 'SIGINT');
  expect(await exited).toEqual([130, null]);
  expect(await errors).toBe('');
  const [, first = '', second = '', ...others] = out.split(/\n(?=[a-z-]+: )/);
  expect(first).toMatch(/^client-decode: .*\n {2}\S.* [\d,.]+ \S+\n/);
  expect(second).toMatch(/^bus-append: .*\n {2}interrupted after 0 of 1 runs; nothing is written\n$/);
  expect(others).toEqual([]);
});
