import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { isRunning } from '../../core/index.js';
import { chancery, MAIN } from './command.js';

export interface Up {
  readonly child: ChildProcess;
  readonly lines: string[];
  /** Resolves with the first line, from now or before, that matches. */
  line(pattern: RegExp): Promise<string>;
  readonly exited: Promise<number | null>;
}

export interface UpOptions {
  /** Further arguments. */
  readonly args?: readonly string[];
  /** A file descriptor in the place of the pipe that `lines` reads. */
  readonly stdout?: number;
}

/** Starts `chancery up` with a small market on free ports; it is gone when the test is over. */
export function startUp(data: string, { args = [], stdout }: UpOptions = {}): Up {
  const child = spawn(process.execPath, [MAIN, 'up', '--data', data, '--events', '4', ...args], {
    stdio: ['pipe', stdout ?? 'pipe', 'pipe'],
  });
  // Not before its last lines are here.
  const exited = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exited;
  });
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
  return { child, lines, line, exited };
}

export interface Status {
  parts: { part: string; pid: number; healthy: boolean; address?: string; health?: string }[];
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

/** The process that is ClickHouse itself, below `chancery warehouse`. */
export function clickHousePid(data: string): number {
  return (JSON.parse(readFileSync(join(data, 'clickhouse/endpoint.json'), 'utf8')) as { pid: number }).pid;
}

/** Resolves when these processes are gone. They are not our children: the system tells nobody of their end. */
export async function gone(pids: readonly number[]): Promise<void> {
  while (pids.some(isRunning)) await setTimeout(10);
}
