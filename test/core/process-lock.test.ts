import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ownIdentity, ProcessLock, UsageError } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder();

const script = fileURLToPath(new URL('children/take-lock.mjs', import.meta.url));

interface Taker {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** `held`, or the error message. */
  readonly answer: string;
}

async function take(path: string): Promise<Taker> {
  const child = spawn(process.execPath, [script, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, answer: chunk.toString().trim() };
}

describe('the process lock', () => {
  it('is held once, also within one process, and can be taken again when it is released', () => {
    const path = join(folder, 'once.lock');
    const lock = ProcessLock.acquire(path);
    expect(() => ProcessLock.acquire(path)).toThrow(
      new UsageError(`${path} is held by process ${process.pid}; stop it first`),
    );
    expect(() => ProcessLock.acquire(path, (holder) => `in use by ${holder}`)).toThrow(
      `in use by process ${process.pid}`,
    );
    lock.release();
    ProcessLock.acquire(path).release();
  });

  it('is free after SIGKILL of its holder, and stays on the same file', async () => {
    const path = join(folder, 'killed.lock');
    const first = await take(path);
    expect(first.answer).toBe('held');
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: first.child.pid });
    expect(() => ProcessLock.acquire(path)).toThrow(`held by process ${first.child.pid};`);
    const gone = once(first.child, 'exit');
    first.child.kill('SIGKILL');
    await gone;
    ProcessLock.acquire(path).release();
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(ownIdentity());
  });

  it('is acquired by one of the processes that start together after a kill', async () => {
    const path = join(folder, 'together.lock');
    for (let round = 0; round < 3; round++) {
      await writeFile(path, JSON.stringify({ pid: process.pid, start: '1', boot: 'another' }));
      const takers = await Promise.all([take(path), take(path), take(path), take(path)]);
      expect(takers.map(({ answer }) => answer).filter((answer) => answer === 'held')).toEqual(['held']);
      const gone = takers.map(({ child }) => (child.exitCode === null ? once(child, 'exit') : undefined));
      for (const { child } of takers) child.kill('SIGKILL');
      await Promise.all(gone);
    }
  });

  it('names no process when the file does not name a running one', async () => {
    const path = join(folder, 'unnamed.lock');
    const lock = ProcessLock.acquire(path);
    await writeFile(path, JSON.stringify({ pid: 2 ** 22 + 1, start: '1', boot: null }));
    expect(() => ProcessLock.acquire(path)).toThrow('held by another process;');
    lock.release();
  });
});
