import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { isRunning } from '../../core/index.js';
import { atEnd } from '../support/at-end.js';
import { chancery, MAIN } from './command.js';

export interface Up {
  readonly child: ChildProcess;
  readonly lines: string[];
  /** Resolves with the first matching line, also an earlier one. */
  line(pattern: RegExp): Promise<string>;
  readonly exited: Promise<number | null>;
  /** Sends SIGTERM, and waits until it has ended. */
  stop(): Promise<void>;
}

export interface UpOptions {
  /** Further arguments. */
  readonly args?: readonly string[];
  /** A file descriptor instead of the pipe that `lines` reads. */
  readonly stdout?: number;
  /** Default: the test that starts it. The caller ends it with `stop`. */
  readonly endedBy?: 'caller';
}

/** Starts `chancery up` with a small market on free ports; it is stopped at the end of the test. */
export function startUp(data: string, { args = [], stdout, endedBy }: UpOptions = {}): Up {
  const child = spawn(process.execPath, [MAIN, 'up', '--data', data, '--events', '4', '--bots', '6', ...args], {
    stdio: ['pipe', stdout ?? 'pipe', 'pipe'],
  });
  // Waits for its last lines.
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  if (endedBy !== 'caller') atEnd(stop);
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const check of waiting) check();
    });
  }
  const line = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const check = () => {
        const found = lines.find((l) => pattern.test(l));
        if (found !== undefined) resolve(found);
        return found !== undefined;
      };
      if (check()) return;
      waiting.add(check);
      void exited.then(() => check() || reject(new Error(`it ended without ${pattern}:\n${lines.join('\n')}`)));
    });
  return { child, lines, line, exited, stop };
}

export interface Status {
  services: { service: string; pid: number; healthy: boolean; address?: string; health?: string }[];
  bus: { topic: string; lag: number; end: number }[];
  tables: { name: string; rows: number }[] | null;
  problems: string[];
}

export async function status(data: string): Promise<Status> {
  const { out, code } = await chancery(['status', '--json', '--data', data]);
  expect(code).toBe(0);
  return JSON.parse(out) as Status;
}

export async function rows<T>(data: string, sql: string): Promise<T[]> {
  const { out, err } = await chancery(['sql', '--data', data, '--format', 'json', sql]);
  expect(err).toBe('');
  return JSON.parse(out) as T[];
}

/** The process of ClickHouse itself, a child of `chancery warehouse`. */
export function clickHousePid(data: string): number {
  return (JSON.parse(readFileSync(join(data, 'clickhouse/endpoint.json'), 'utf8')) as { pid: number }).pid;
}

/** The process of ClickHouse itself, also while it starts; undefined without one. Linux only. */
export function startingClickHousePid(data: string): number | undefined {
  return readdirSync('/proc')
    .map(Number)
    .find((pid) => {
      try {
        const [, script = '', folder] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return folder === data && /[/](confined-)?child[.]js$/.test(script);
      } catch {
        return false;
      }
    });
}

/** Resolves when these processes have ended; polls, since they are not children of this process. */
export async function gone(pids: readonly number[]): Promise<void> {
  while (pids.some(isRunning)) await setTimeout(10);
}
