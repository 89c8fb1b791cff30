import { spawn, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { isAlive, ownIdentity, systemClock } from '../../core/index.js';

describe('the identity of a process', () => {
  it('is alive for this one, and not when another process has its number, or after a reboot', () => {
    const own = ownIdentity();
    expect(isAlive(own)).toBe(true);
    expect(isAlive({ ...own, start: `${Number(own.start) - 1}` })).toBe(false);
    expect(isAlive({ ...own, boot: 'another' })).toBe(false);
    expect(isAlive({ ...own, pid: 2 ** 22 + 1 })).toBe(false);
  });

  it('is not alive for a zombie', async () => {
    // The shell stops itself before it could collect its child, which thereby stays a zombie.
    const shell = spawn('/bin/sh', ['-c', 'true & echo $!; kill -STOP $$']);
    const pid = Number(await new Promise<Buffer>((resolve) => shell.stdout.once('data', resolve)));
    const state = () => spawnSync('ps', ['-o', 'stat=', '-p', `${pid}`]).stdout.toString();
    while (!state().startsWith('Z')) await systemClock.sleep(1);
    expect(isAlive({ ...ownIdentity(), pid })).toBe(false);
    shell.kill('SIGKILL');
  });
});
