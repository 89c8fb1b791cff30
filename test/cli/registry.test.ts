import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { announce, runningServices } from '../../cli/service/registry.js';
import { ownIdentity } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const script = fileURLToPath(new URL('children/announce-up.mjs', import.meta.url));
const ROUNDS = 50;

describe('the parts that run on a data folder', () => {
  it('are listed from their announcement until their end', () => {
    const data = temporaryFolder();
    expect(runningServices(data)).toEqual([]);
    const transform = announce(data, 'transform', { health: 'http://127.0.0.1:1' });
    const exchange = announce(data, 'exchange');
    exchange.update({ address: 'http://127.0.0.1:2' });
    expect(runningServices(data)).toMatchObject([
      { service: 'exchange', pid: process.pid, address: 'http://127.0.0.1:2' },
      { service: 'transform', pid: process.pid, health: 'http://127.0.0.1:1' },
    ]);
    for (const name of readdirSync(join(data, 'run'))) {
      expect(statSync(join(data, 'run', name)).mode & 0o777).toBe(0o600);
    }
    transform.end();
    exchange.end();
    expect(runningServices(data)).toEqual([]);
  });

  it('do not include one that was killed, even when its PID is reused', async () => {
    const data = temporaryFolder();
    announce(data, 'collect').end();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await once(child, 'spawn');
    const entry = { service: 'collect', pid: child.pid, process: { ...ownIdentity(), pid: child.pid }, startedAt: '' };
    writeFileSync(join(data, 'run', `collect-${child.pid}.json`), JSON.stringify(entry));
    expect(runningServices(data)).toEqual([]);
    expect(readdirSync(join(data, 'run'))).toEqual([]);
    child.kill('SIGKILL');
  });

  it('can be refused a second time on one folder, with a message that names the first', () => {
    const data = temporaryFolder();
    const first = announce(data, 'up', {}, { alone: true });
    expect(() => announce(data, 'up', {}, { alone: true })).toThrow(
      `chancery up already runs on ${data} (process ${process.pid}); stop it first, or choose another folder with --data`,
    );
    first.end();
    announce(data, 'up', {}, { alone: true }).end();
  });

  it('remove the entries of killed ones, when they start and when they end', () => {
    const data = temporaryFolder();
    const gone = 2 ** 22 + 1;
    const entry = { service: 'collect', pid: gone, process: { ...ownIdentity(), pid: gone }, startedAt: '' };
    const leave = () => {
      writeFileSync(join(data, 'run', `collect-${gone}.json`), JSON.stringify(entry));
      writeFileSync(join(data, 'run', `up-${gone}.json.${gone}.tmp`), '{"service"');
    };
    announce(data, 'collect').end();
    leave();
    const known = announce(data, 'collect');
    expect(readdirSync(join(data, 'run'))).toEqual([`collect-${process.pid}.json`]);
    leave();
    known.end();
    expect(readdirSync(join(data, 'run'))).toEqual([]);
  });

  it('allow one of the processes that start together after a kill', async () => {
    const starters = Array.from({ length: 4 }, () => spawn(process.execPath, [script], { stdio: 'pipe' }));
    const answers = starters.map(({ stdout }) => createInterface({ input: stdout })[Symbol.asyncIterator]());
    const killed = { service: 'up', pid: 1, process: { ...ownIdentity(), pid: 2 ** 22 + 1 }, startedAt: '' };
    for (let round = 0; round < ROUNDS; round++) {
      const data = temporaryFolder();
      mkdirSync(join(data, 'run'));
      writeFileSync(join(data, 'run', 'up.lock'), JSON.stringify(killed.process));
      writeFileSync(join(data, 'run', `up-${killed.process.pid}.json`), JSON.stringify(killed));
      for (const { stdin } of starters) stdin.write(`${data} ${Date.now() + 5}\n`);
      const given = await Promise.all(answers.map(async (answer) => (await answer.next()).value));
      expect(given.toSorted(), `round ${round}`).toEqual(['held', 'refused', 'refused', 'refused']);
      expect(runningServices(data)).toHaveLength(1);
    }
    for (const starter of starters) starter.kill();
  });
});
