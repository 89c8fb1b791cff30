import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { ReadyLine } from '../../exchange/index.js';
import { type Target, targetAt } from './server-accounts.js';

const program = join(import.meta.dirname, '../../dist/cli/main.js');

/** Names another exchange to test: its ready line, as `chancery exchange` prints it. */
const OTHER = 'CHANCERY_EXCHANGE_READY';

export interface ExchangeProcess {
  readonly child: ChildProcess;
  readonly ready: ReadyLine;
  /** Everything that it wrote to stderr so far. */
  stderr(): string;
}

/** `chancery exchange` as a process of its own, ready. The caller ends it. */
export async function spawnExchange(...flags: string[]): Promise<ExchangeProcess> {
  if (!existsSync(program)) throw new Error('run `npm run build` first');
  const args = [program, 'exchange', '--port', '0', ...flags];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  while (!out.includes('\n')) {
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    if (child.exitCode !== null) throw new Error(`the exchange ended with ${child.exitCode}: ${err}`);
  }
  return { child, ready: JSON.parse(out) as ReadyLine, stderr: () => err };
}

/** A quiet exchange for all tests of a file: a process of its own, or the one that `CHANCERY_EXCHANGE_READY` names. */
export async function conformanceTarget(): Promise<Target & { readonly ready: ReadyLine }> {
  const named = process.env[OTHER];
  const exchange = named === undefined ? await spawnExchange('--bots', '0', '--events', '2') : undefined;
  afterAll(() => void exchange?.child.kill('SIGTERM'));
  const ready = exchange?.ready ?? (JSON.parse(named ?? '') as ReadyLine);
  return { ...targetAt(ready.url, ready.control.token), ready };
}
