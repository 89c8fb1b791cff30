import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { announce, runningParts } from '../../cli/parts/registry.js';
import { ownIdentity } from '../../core/index.js';
import { temporaryFolder } from './command.js';

describe('the parts that run on a data folder', () => {
  it('are known from the moment they announce themselves until they end', () => {
    const data = temporaryFolder();
    expect(runningParts(data)).toEqual([]);
    const transform = announce(data, 'transform', { health: 'http://127.0.0.1:1' });
    const exchange = announce(data, 'exchange');
    exchange.update({ address: 'http://127.0.0.1:2' });
    expect(runningParts(data)).toMatchObject([
      { part: 'exchange', pid: process.pid, address: 'http://127.0.0.1:2' },
      { part: 'transform', pid: process.pid, health: 'http://127.0.0.1:1' },
    ]);
    for (const name of readdirSync(join(data, 'run'))) {
      expect(statSync(join(data, 'run', name)).mode & 0o777).toBe(0o600);
    }
    transform.end();
    exchange.end();
    expect(runningParts(data)).toEqual([]);
  });

  it('do not include one that was killed, even when its process number is used again', async () => {
    const data = temporaryFolder();
    announce(data, 'collect').end();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await once(child, 'spawn');
    const entry = { part: 'collect', pid: child.pid, process: { ...ownIdentity(), pid: child.pid }, startedAt: '' };
    writeFileSync(join(data, 'run', `collect-${child.pid}.json`), JSON.stringify(entry));
    expect(runningParts(data)).toEqual([]);
    expect(readdirSync(join(data, 'run'))).toEqual([]);
    child.kill('SIGKILL');
  });

  it('can be refused a second time on one folder, in words that name the first', () => {
    const data = temporaryFolder();
    const first = announce(data, 'up', {}, { alone: true });
    expect(() => announce(data, 'up', {}, { alone: true })).toThrow(
      `chancery up already runs on ${data} (process ${process.pid}); stop it first, or choose another folder with --data`,
    );
    first.end();
    announce(data, 'up', {}, { alone: true }).end();
  });

  it('take away what killed ones left, when they start and when they end', () => {
    const data = temporaryFolder();
    const gone = 2 ** 22 + 1;
    const entry = { part: 'collect', pid: gone, process: { ...ownIdentity(), pid: gone }, startedAt: '' };
    const leave = () => {
      writeFileSync(join(data, 'run', `collect-${gone}.json`), JSON.stringify(entry));
      writeFileSync(join(data, 'run', `up.json.${gone}.tmp`), '{"part"');
    };
    announce(data, 'up', {}, { alone: true }).end();
    leave();
    const known = announce(data, 'collect');
    expect(readdirSync(join(data, 'run'))).toEqual([`collect-${process.pid}.json`]);
    leave();
    known.end();
    expect(readdirSync(join(data, 'run'))).toEqual([]);
  });

  it('give way when the holder of the place is gone', () => {
    const data = temporaryFolder();
    const left = announce(data, 'up', {}, { alone: true });
    const entry = { part: 'up', pid: 1, process: { ...ownIdentity(), pid: 2 ** 22 + 1 }, startedAt: '' };
    writeFileSync(join(data, 'run', 'up.json'), JSON.stringify(entry));
    const next = announce(data, 'up', {}, { alone: true });
    expect(runningParts(data)).toMatchObject([{ part: 'up', pid: process.pid }]);
    next.end();
    left.end();
  });
});
