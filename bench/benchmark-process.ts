import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { removeFolder, temporaryFolder } from '../test/support/temporary-folder.js';
import type { BenchFigure } from './bench.js';

export interface BenchmarkProcessOptions {
  /** The `bench/main.js` to run, of this or another checkout. */
  readonly program: string;
  readonly name: string;
  readonly quick: boolean;
}

/**
 * Runs a benchmark once, in a process of its own.
 * @throws the signal's reason when it is aborted, which kills the process and everything that it started
 */
export async function runInProcess(options: BenchmarkProcessOptions, signal: AbortSignal): Promise<BenchFigure[]> {
  signal.throwIfAborted();
  const { program, name, quick } = options;
  const args = [program, '--once', '--keep', name, ...(quick ? ['--quick'] : [])];
  // With a process group of its own, it can be killed together with the processes that it started.
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const exited = once(child, 'exit');
  const kill = () => void (child.pid && process.kill(-child.pid, 'SIGKILL'));
  signal.addEventListener('abort', kill);
  try {
    const output = await text(child.stdout);
    const [code, killedBy] = await exited;
    signal.throwIfAborted();
    if (code !== 0)
      throw new Error(`${name} ${killedBy ? `was killed by ${killedBy}` : `failed with exit code ${code}`}`);
    return JSON.parse(output) as BenchFigure[];
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

/** Calls `run` with TMPDIR set to a new folder, which is deleted afterwards with everything in it. */
export async function withTemporaryFolder(run: () => Promise<unknown>): Promise<void> {
  const folder = temporaryFolder();
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    await run();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    // The server of an interrupted benchmark needs seconds to exit.
    removeFolder(folder);
  }
}
