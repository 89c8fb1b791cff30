import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chancery, MAIN, temporaryFolder } from './command.js';

interface Up {
  readonly child: ChildProcess;
  readonly lines: string[];
  /** Resolves with the first line, from now or before, that matches. */
  line(pattern: RegExp): Promise<string>;
  exited: Promise<number | null>;
}

/** Starts `chancery up` with a small market on free ports; it is gone when the test is over. */
function startUp(data: string, args: readonly string[] = []): Up {
  const child = spawn(process.execPath, [MAIN, 'up', '--data', data, '--events', '4', ...args], { stdio: 'pipe' });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
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

interface Status {
  parts: { part: string; pid: number; healthy: boolean; address?: string; health?: string }[];
  bus: { topic: string; lag: number; end: number }[];
  tables: { name: string; rows: number }[] | null;
  problems: string[];
}

async function status(data: string): Promise<Status> {
  const { out, code } = await chancery(['status', '--json', '--data', data]);
  expect(code).toBe(0);
  return JSON.parse(out) as Status;
}

async function rows<T>(data: string, sql: string): Promise<T[]> {
  const { out, err } = await chancery(['sql', '--data', data, '--format', 'json', sql]);
  expect(err).toBe('');
  return JSON.parse(out) as T[];
}

/** Asks again until the answer satisfies. */
async function eventually<T>(ask: () => Promise<T>, satisfied: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (satisfied(answer)) return answer;
    await setTimeout(20);
  }
}

const alive = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

const TICKS = 'SELECT count() AS n, uniqExact(_log, _partition, _offset, _index) AS places FROM price_ticks';
const EVENTS = 'SELECT DISTINCT event FROM event_observations ORDER BY event';

describe('chancery up', { timeout: 240_000 }, () => {
  it('records a market, says what runs, ends in order on SIGINT, and goes on where it was', async () => {
    const data = temporaryFolder();
    const first = startUp(data);
    await first.line(/^ready in /);
    const board = await first.line(/^ {2}ask {4}npx chancery sql --data /);
    expect(board).toContain(data);
    for (const part of ['exchange', 'clickhouse', 'collect', 'transform']) {
      expect(await first.line(new RegExp(`^ {2}${part} +ready +http://127.0.0.1:\\d+`))).toBeTruthy();
    }
    const running = await status(data);
    expect(running.parts.map((p) => [p.part, p.healthy])).toEqual([
      ['up', true],
      ['exchange', true],
      ['clickhouse', true],
      ['collect', true],
      ['transform', true],
    ]);
    for (const part of running.parts) {
      expect(await (await fetch(`${part.health}/metrics`)).text()).toContain('# TYPE');
    }
    for (const folder of ['run', 'logs', 'clickhouse']) expect(statSync(join(data, folder)).mode & 0o077).toBe(0);
    expect(first.lines.join('\n')).not.toMatch(/password=/);
    const before = await eventually(
      () => rows<{ n: number; places: number }>(data, TICKS),
      ([r]) => (r?.n ?? 0) > 20,
    );
    const events = await rows<{ event: string }>(data, EVENTS);
    expect(events.length).toBeGreaterThanOrEqual(4);

    const again = await chancery(['up', '--data', data]);
    expect(again.code).toBe(2);
    expect(again.err).toBe(
      `chancery: chancery up already runs on ${data} (process ${first.child.pid}); stop it first, or choose another folder with --data\n`,
    );

    const askedAt = performance.now();
    first.child.kill('SIGINT');
    expect(await first.exited).toBe(0);
    expect(performance.now() - askedAt).toBeLessThan(5000);
    expect(running.parts.filter((p) => alive(p.pid))).toEqual([]);
    expect(readdirSync(join(data, 'run'))).toEqual([]);
    const stopped = await status(data);
    expect(stopped.parts).toEqual([]);

    const second = startUp(data);
    await second.line(/^ready in /);
    const after = await eventually(
      () => rows<{ n: number; places: number }>(data, TICKS),
      ([r]) => (r?.n ?? 0) > (before[0]?.n ?? 0) + 20,
    );
    expect(after[0]?.places).toBe(after[0]?.n);
    const later = (await rows<{ event: string }>(data, EVENTS)).map((e) => e.event);
    expect(later).toEqual(expect.arrayContaining(events.map((e) => e.event)));
    second.child.kill('SIGTERM');
    expect(await second.exited).toBe(0);
  });

  it('starts a part again that was killed, and leaves no process behind when it is killed itself', async () => {
    const data = temporaryFolder();
    const up = startUp(data);
    await up.line(/^ready in /);
    const victims = (await status(data)).parts.filter((p) => p.part === 'collect' || p.part === 'clickhouse');
    expect(victims).toHaveLength(2);
    for (const { pid } of victims) process.kill(pid, 'SIGKILL');
    for (const { part } of victims) {
      await up.line(new RegExp(`^\\S+ ${part} ended \\(killed by SIGKILL\\); starting it again in `));
      await up.line(new RegExp(`^\\S+ ${part} runs again$`));
    }
    const { parts } = await status(data);
    expect(parts.map((p) => p.part)).toEqual(['up', 'exchange', 'clickhouse', 'collect', 'transform']);
    for (const { part, pid, address } of victims) {
      const now = parts.find((p) => p.part === part);
      expect(now?.pid).not.toBe(pid);
      expect(now?.address).toBe(address);
    }
    const [start] = await rows<{ n: number }>(data, TICKS);
    await eventually(
      () => rows<{ n: number }>(data, TICKS),
      ([r]) => (r?.n ?? 0) > (start?.n ?? 0),
    );

    const endpoint = JSON.parse(readFileSync(join(data, 'clickhouse/endpoint.json'), 'utf8')) as { pid: number };
    up.child.kill('SIGKILL');
    await up.exited;
    const pids = [...parts.map((p) => p.pid), endpoint.pid];
    await eventually(
      async () => pids.filter(alive),
      (left) => left.length === 0,
    );
    expect((await status(data)).parts).toEqual([]);
  });

  it('says in one line which port is taken, and leaves nothing running', async () => {
    const data = temporaryFolder();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const port = String((other.address() as AddressInfo).port);
    const up = startUp(data, ['--exchange-port', port]);
    expect(await up.exited).toBe(2);
    expect(up.lines.at(-1)).toBe(
      `chancery: port ${port} is taken; choose another with --exchange-port, or leave it out`,
    );
    expect(readdirSync(join(data, 'run'))).toEqual([]);
  });
});
