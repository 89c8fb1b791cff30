import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { parseEnv } from './compose-file.js';

const SECRETS = ['CLICKHOUSE_OWNER_PASSWORD', 'CLICKHOUSE_READER_PASSWORD', 'GRAFANA_ADMIN_PASSWORD'];

function init(cwd: string, ...args: string[]) {
  const main = join(packageRoot(), 'dist/cli/main.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'init', ...args], { cwd, encoding: 'utf8' });
  return { status, stdout, stderr };
}

const envOf = (cwd: string, file = '.env') => parseEnv(readFileSync(join(cwd, file), 'utf8'));

describe('chancery init', () => {
  it('writes .env for its owner only, with long passwords that are all different, and shows none of them', () => {
    const cwd = temporaryFolder();
    const { status, stdout, stderr } = init(cwd);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(statSync(join(cwd, '.env')).mode & 0o777).toBe(0o600);
    const env = envOf(cwd);
    const passwords = SECRETS.map((name) => env[name] ?? '');
    for (const password of passwords) expect(password).toMatch(/^[\w-]{32}$/);
    expect(new Set(passwords).size).toBe(SECRETS.length);
    expect(env['KAFKA_CLUSTER_ID']).toMatch(/^\w[\w-]{21}$/);
    expect(env).toMatchObject({ COMPOSE_PROFILES: 'demo', CHANCERY_EXCHANGE_URL: 'http://127.0.0.1:9100' });
    for (const value of [...passwords, env['KAFKA_CLUSTER_ID'] ?? '']) expect(stdout).not.toContain(value);
    expect(stdout).toContain('docker compose up -d --build');
  });

  it('makes other passwords every time', () => {
    const [a, b] = [temporaryFolder(), temporaryFolder()];
    init(a);
    init(b);
    for (const name of [...SECRETS, 'KAFKA_CLUSTER_ID']) expect(envOf(a)[name]).not.toBe(envOf(b)[name]);
  });

  it('does not touch a file that is there, and says how to go on', () => {
    const cwd = temporaryFolder();
    init(cwd);
    const before = readFileSync(join(cwd, '.env'), 'utf8');
    const { status, stdout, stderr } = init(cwd);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^chancery: \S+\.env is there already .* --force.*\n$/);
    expect(readFileSync(join(cwd, '.env'), 'utf8')).toBe(before);
  });

  it('with --force makes new passwords, and keeps the ID under which the data of Kafka can be opened', () => {
    const cwd = temporaryFolder();
    init(cwd);
    const before = envOf(cwd);
    writeFileSync(join(cwd, '.env'), readFileSync(join(cwd, '.env')), { mode: 0o644 });
    const { status, stdout } = init(cwd, '--force');
    expect(status).toBe(0);
    expect(stdout).toContain('reset-admin-password');
    expect(statSync(join(cwd, '.env')).mode & 0o777).toBe(0o600);
    for (const name of SECRETS) expect(envOf(cwd)[name]).not.toBe(before[name]);
    expect(envOf(cwd)['KAFKA_CLUSTER_ID']).toBe(before['KAFKA_CLUSTER_ID']);
  });

  it('never writes through a link to another file', () => {
    const cwd = temporaryFolder();
    const target = join(cwd, 'target');
    writeFileSync(target, 'mine\n');
    symlinkSync(target, join(cwd, '.env'));
    expect(init(cwd).status).toBe(2);
    expect(init(cwd, '--force').status).toBe(0);
    expect(readFileSync(target, 'utf8')).toBe('mine\n');
    expect(envOf(cwd)['GRAFANA_ADMIN_PASSWORD']).toMatch(/./);
  });

  it('takes an exchange of one’s own by https only, and leaves the simulated one out then', () => {
    const cwd = temporaryFolder();
    expect(init(cwd, '--exchange-url', 'https://exchange.example', '--file', 'live.env').status).toBe(0);
    expect(envOf(cwd, 'live.env')).toMatchObject({
      COMPOSE_PROFILES: '',
      CHANCERY_EXCHANGE_URL: 'https://exchange.example',
    });
    const wrong = [
      'http://exchange.example',
      'http://127.0.0.1:9100',
      'exchange.example',
      'https://a:b@exchange.example',
    ];
    for (const address of [...wrong, 'https://exchange.example/$HOME', 'https://exchange.example?a=1']) {
      const { status, stderr } = init(cwd, '--exchange-url', address);
      expect({ status, lines: stderr.split('\n').length }, address).toEqual({ status: 2, lines: 2 });
    }
    expect(() => readFileSync(join(cwd, '.env'))).toThrow();
  });

  it('says in one line where it cannot write', () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, '.env'));
    const { status, stderr } = init(cwd);
    expect({ status, lines: stderr.split('\n').length }).toEqual({ status: 2, lines: 2 });
    expect(init(cwd, '--file', 'no/such/folder/.env').stderr).toMatch(/^chancery: cannot write .*\n$/);
  });
});
