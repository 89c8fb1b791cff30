import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { isAlive, ownIdentity, systemClock } from '../../core/index.js';

/** State and start time of a process, as proc(5) shows them. */
function processState(pid: number): { state: string | undefined; start: string } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ');
  return { state: fields?.[0], start: fields?.[19] ?? '' };
}

describe('the identity of a process', () => {
  it('is running for this process, and not when another process has its PID, or after a reboot', () => {
    const own = ownIdentity();
    expect(isAlive(own)).toBe(true);
    expect(isAlive({ ...own, start: `${Number(own.start) - 1}` })).toBe(false);
    expect(isAlive({ ...own, boot: 'another' })).toBe(false);
    expect(isAlive({ ...own, pid: 2 ** 22 + 1 })).toBe(false);
  });

  it('is not running for a zombie', async () => {
    // cat, which the shell becomes, never collects the child that the shell left it.
    const parent = spawn('/bin/sh', ['-c', 'read line <&3 & echo $!; exec cat'], {
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
    });
    const [stdin, stdout, , childInput] = parent.stdio as unknown as [Writable, Readable, null, Writable];
    const lines = createInterface(stdout)[Symbol.asyncIterator]();
    const pid = Number((await lines.next()).value);
    const identity = { ...ownIdentity(), pid, start: processState(pid).start };
    expect(isAlive(identity)).toBe(true);
    stdin.write('cat runs\n');
    expect((await lines.next()).value).toBe('cat runs');
    childInput.end();
    while (processState(pid).state !== 'Z') await systemClock.sleep(1);
    expect(isAlive(identity)).toBe(false);
    parent.kill('SIGKILL');
  });
});
