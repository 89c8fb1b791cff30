import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PortClaims } from '../../cli/up/port-claims.js';
import { freePort } from '../support/free-ports.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('claims of ports', () => {
  it('reserve a port until they are released, although no process listens on it', async () => {
    const folder = temporaryFolder();
    const [one, other] = [new PortClaims(folder), new PortClaims(folder)];
    const port = await freePort();
    expect(await one.claim(port)).toBe(true);
    expect(await other.claim(port)).toBe(false);
    expect(await other.claimFrom(port)).toBeGreaterThan(port);
    one.release();
    expect(await other.claim(port)).toBe(true);
    other.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are not given for a port on which a process listens', async () => {
    const folder = temporaryFolder();
    const claims = new PortClaims(folder);
    const port = await freePort();
    const server = createServer().listen(port, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    expect(await claims.claim(port)).toBe(false);
    expect(claims.ports).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('end with their process, also by SIGKILL', async () => {
    const folder = temporaryFolder();
    const port = await freePort();
    const script = `
      import { PortClaims } from ${JSON.stringify(resolve('dist/cli/up/port-claims.js'))};
      const claims = new PortClaims(${JSON.stringify(folder)});
      console.log(await claims.claim(${port}));
      setInterval(() => claims.ports, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    onTestFinished(() => void holder.kill('SIGKILL'));
    expect(String((await once(holder.stdout, 'data'))[0])).toBe('true\n');
    const claims = new PortClaims(folder);
    expect(await claims.claim(port)).toBe(false);
    const gone = once(holder, 'exit');
    holder.kill('SIGKILL');
    await gone;
    expect(await claims.claim(port)).toBe(true);
    claims.release();
  });

  it('say what to do when they cannot be created', async () => {
    const nowhere = join(temporaryFolder(), 'missing');
    await expect(new PortClaims(nowhere).claim(4711)).rejects.toThrow(
      /^cannot claim port 4711: ENOENT.*; set TMPDIR to a writable folder$/,
    );
  });
});
