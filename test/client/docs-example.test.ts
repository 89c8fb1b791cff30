import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { exchangeWithEvents } from './support-exchange.js';

const root = join(import.meta.dirname, '../..');

it('the program of docs/client.md runs as it stands, with the package as others install it', async () => {
  const text = await readFile(join(root, 'docs/client.md'), 'utf8');
  const program = /```js\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'chancery-example-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'node_modules'));
  await symlink(root, join(folder, 'node_modules/chancery'));
  await writeFile(join(folder, 'example.mjs'), program);
  const { running } = await exchangeWithEvents({}, 3);
  const run = promisify(execFile)(process.execPath, ['example.mjs', running.ready.url], {
    cwd: folder,
    timeout: 20_000,
  });
  const { stdout, stderr } = await run;
  expect(stderr).toBe('');
  const lines = stdout.trimEnd().split('\n');
  expect(lines.slice(0, 2)).toEqual(['3 events, complete: true', expect.stringMatching(/^\S+ 0\.\d+ \S+ \S+$/)]);
  expect(lines.at(-1)).toMatch(/^\S+ [1-9]\d* points$/);
});
