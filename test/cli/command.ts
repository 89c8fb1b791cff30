import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { runCommandLine } from '../../cli/command-line.js';

export const MAIN = join(import.meta.dirname, '../../dist/cli/main.js');

/** To which a command listens until its process ends. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Written to standard input, which then ends. */
  readonly input?: string;
}

/** Runs the compiled `chancery` with these arguments until it ends. */
export async function chancery(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd ?? tmpdir(),
    env: { ...process.env, ...options.env },
    stdio: 'pipe',
  });
  child.stdin.end(options.input ?? '');
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, out, err };
}

/**
 * Runs a command in this process, which is faster than in one of its own: for commands that start no process, like a query
 * or a refused command line.
 */
export async function commandLine(
  args: readonly string[],
  options: Pick<RunOptions, 'env' | 'cwd'> = {},
): Promise<Finished> {
  const written = { out: '', err: '' };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation((...args) => capture('out', args)),
    vi.spyOn(process.stderr, 'write').mockImplementation((...args) => capture('err', args)),
    vi.spyOn(process, 'cwd').mockReturnValue(options.cwd ?? tmpdir()),
  ];
  const capture = (stream: keyof typeof written, args: readonly unknown[]): boolean => {
    written[stream] += String(args[0]);
    const done = args.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
  for (const [name, value] of Object.entries(options.env ?? {})) vi.stubEnv(name, value);
  const exitCodeOfTests = process.exitCode;
  const listeners = SIGNALS.map((name) => [name, process.listeners(name)] as const);
  process.exitCode = undefined;
  try {
    return { code: await runCommandLine([...args]), ...written };
  } finally {
    process.exitCode = exitCodeOfTests;
    for (const [name, before] of listeners) {
      for (const listener of process.listeners(name)) if (!before.includes(listener)) process.off(name, listener);
    }
    vi.unstubAllEnvs();
    for (const spy of spies) spy.mockRestore();
  }
}
