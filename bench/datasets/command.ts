import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { packageRoot } from '../../core/index.js';
import { residentBytes } from '../process-usage.js';

const SAMPLE_MS = 50;

export interface RunCommand {
  readonly out: string;
  readonly seconds: number;
  /** Peak of the sum of the resident memory of the command's process and of those that it started. */
  readonly peakBytes: number;
}

/** Runs the compiled `chancery` until it ends. */
export async function runCommand(args: readonly string[], signal: AbortSignal): Promise<RunCommand> {
  const started = performance.now();
  const child = spawn(process.execPath, [join(packageRoot(), 'dist/cli/main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGTERM',
  });
  let peak = 0;
  const sampling = setInterval(() => {
    peak = Math.max(peak, treeBytes(child.pid ?? 0));
  }, SAMPLE_MS);
  try {
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    if (code !== 0)
      throw new Error(`chancery ${args.join(' ')} ended with ${code}: ${out.slice(-500)}${err.slice(-500)}`);
    return { out, seconds: (performance.now() - started) / 1000, peakBytes: peak };
  } finally {
    clearInterval(sampling);
  }
}

/** Resident memory of a process and its descendants. */
function treeBytes(root: number): number {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const parent = parentOf(pid);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const sum = (pid: number): number =>
    bytesOf(pid) + (children.get(pid) ?? []).reduce((total, child) => total + sum(child), 0);
  return sum(root);
}

/** Undefined for a process that has ended. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function bytesOf(pid: number): number {
  try {
    return residentBytes(pid) || 0;
  } catch {
    return 0;
  }
}
