import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { openEvents } from '../exchange/server-support.js';
import { startTestExchange } from '../support/exchange.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const root = join(import.meta.dirname, '../..');

/** Runs the n-th program of docs/client.md unchanged, with the installed package; returns its output lines. */
async function runProgram(n: number, url: string, env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const text = await readFile(join(root, 'docs/client.md'), 'utf8');
  const [, program = ''] = [...text.matchAll(/```js\n([\s\S]*?)```/g)][n] ?? [];
  const folder = temporaryFolder();
  await mkdir(join(folder, 'node_modules'));
  await symlink(root, join(folder, 'node_modules/chancery'));
  await writeFile(join(folder, 'example.mjs'), program);
  const options = { cwd: folder, timeout: 100_000, env: { ...process.env, ...env } };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['example.mjs', url], options);
  expect(stderr).toBe('');
  return stdout.trimEnd().split('\n');
}

it('the program of docs/client.md about market data runs unchanged', async () => {
  const { core, url } = await startTestExchange({ events: 0 });
  openEvents(core, 3);
  const lines = await runProgram(0, url);
  expect(lines.slice(0, 2)).toEqual(['3 events, complete: true', expect.stringMatching(/^\S+ 0\.\d+ \S+ \S+$/)]);
  expect(lines.at(-1)).toMatch(/^\S+ [1-9]\d* points$/);
});

it('the program of docs/client.md about an account runs unchanged, and prints no secret', async () => {
  const { core, ready } = await startTestExchange({ events: 0 });
  openEvents(core, 2);
  const [account] = ready.accounts;
  if (!account) throw new Error('there is no account');
  const { apiKey, apiSecret, email, password } = account;
  const credentials = { API_KEY: apiKey, API_SECRET: apiSecret, EMAIL: email, PASSWORD: password };
  const lines = await runProgram(1, ready.url, credentials);
  expect(lines).toEqual([
    expect.stringMatching(/^balance \S+ (\d+) \1$/),
    expect.stringMatching(/^order \S+ SUCCESS$/),
    expect.stringMatching(/^active \S+ 0\.01 5$/),
    '0 trades, complete: true',
    expect.stringMatching(/^transaction DEPOSIT \d+$/),
  ]);
  for (const secret of [apiSecret, password]) expect(lines.join('\n')).not.toContain(secret);
});
