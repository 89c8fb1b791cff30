import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Certificate } from '../../certify/report.js';
import { packageRoot } from '../../core/index.js';
import { atEnd } from '../support/at-end.js';

/** A small market that moves fast. */
export const MARKET = ['--events', '8', '--bots', '8', '--pace', '2'];

/** A running command. */
export interface Run {
  readonly child: ChildProcess;
  /** Resolves with the first line of standard error that contains a text. */
  said(text: string): Promise<void>;
  readonly ended: Promise<{ code: number | null; out: string; err: string }>;
}

/** Runs `chancery certify`, which is ended with the test. */
export function certify(...args: string[]): Run {
  const main = join(packageRoot(), 'dist/cli/main.js');
  const child = spawn(process.execPath, [main, 'certify', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  atEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'close');
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  const lines = createInterface({ input: child.stderr });
  lines.on('line', (line) => {
    err += `${line}\n`;
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }));
  const said = (text: string) =>
    new Promise<void>((resolve, reject) => {
      lines.on('line', (line) => {
        if (line.includes(text)) resolve();
      });
      void ended.then((outcome) => reject(new Error(`it ended: ${outcome.err}`)));
    });
  return { child, said, ended };
}

/** What it printed with `--json`. */
export function certificateOf(out: string, err: string): Certificate {
  if (out === '') throw new Error(`it printed nothing: ${err}`);
  return JSON.parse(out) as Certificate;
}
