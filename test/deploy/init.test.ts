import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine } from '../cli/command.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { parseEnv } from './compose-file.js';

const SECRETS = ['CLICKHOUSE_OWNER_PASSWORD', 'CLICKHOUSE_READER_PASSWORD', 'GRAFANA_ADMIN_PASSWORD'];

async function init(cwd: string, ...args: string[]) {
  const { code, out, err } = await commandLine(['init', ...args], { cwd });
  return { status: code, stdout: out, stderr: err };
}

const envOf = (cwd: string, file = '.env') => parseEnv(readFileSync(join(cwd, file), 'utf8'));

describe('chancery init', () => {
  it('writes .env for its owner only, with long passwords that are all different, and shows none of them', async () => {
    const cwd = temporaryFolder();
    const { status, stdout, stderr } = await init(cwd);
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

  it('generates other passwords every time', async () => {
    const [a, b] = [temporaryFolder(), temporaryFolder()];
    await init(a);
    await init(b);
    for (const name of [...SECRETS, 'KAFKA_CLUSTER_ID']) expect(envOf(a)[name]).not.toBe(envOf(b)[name]);
  });

  it('does not change an existing file, and says how to continue', async () => {
    const cwd = temporaryFolder();
    await init(cwd);
    const before = readFileSync(join(cwd, '.env'), 'utf8');
    const { status, stdout, stderr } = await init(cwd);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^chancery: \S+\.env exists .* --force.*\n$/);
    expect(readFileSync(join(cwd, '.env'), 'utf8')).toBe(before);
  });

  it('with --force generates new passwords, and retains the cluster ID of Kafka', async () => {
    const cwd = temporaryFolder();
    await init(cwd);
    const before = envOf(cwd);
    writeFileSync(join(cwd, '.env'), readFileSync(join(cwd, '.env')), { mode: 0o644 });
    const { status, stdout } = await init(cwd, '--force');
    expect(status).toBe(0);
    expect(stdout).toContain('reset-admin-password');
    expect(statSync(join(cwd, '.env')).mode & 0o777).toBe(0o600);
    for (const name of SECRETS) expect(envOf(cwd)[name]).not.toBe(before[name]);
    expect(envOf(cwd)['KAFKA_CLUSTER_ID']).toBe(before['KAFKA_CLUSTER_ID']);
  });

  it('never writes through a link to another file', async () => {
    const cwd = temporaryFolder();
    const target = join(cwd, 'target');
    writeFileSync(target, 'mine\n');
    symlinkSync(target, join(cwd, '.env'));
    expect((await init(cwd)).status).toBe(2);
    expect((await init(cwd, '--force')).status).toBe(0);
    expect(readFileSync(target, 'utf8')).toBe('mine\n');
    expect(envOf(cwd)['GRAFANA_ADMIN_PASSWORD']).toMatch(/./);
  });

  it('accepts an external exchange by https only, and then omits the simulated one', async () => {
    const cwd = temporaryFolder();
    expect((await init(cwd, '--exchange-url', 'https://exchange.example', '--file', 'live.env')).status).toBe(0);
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
      const { status, stderr } = await init(cwd, '--exchange-url', address);
      expect({ status, lines: stderr.split('\n').length }, address).toEqual({ status: 2, lines: 2 });
    }
    expect(() => readFileSync(join(cwd, '.env'))).toThrow();
  });

  it('reports in one line that it cannot write', async () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, '.env'));
    const { status, stderr } = await init(cwd);
    expect({ status, lines: stderr.split('\n').length }).toEqual({ status: 2, lines: 2 });
    expect((await init(cwd, '--file', 'no/such/folder/.env')).stderr).toMatch(
      /^chancery: the folder .*\/no\/such\/folder does not exist; create it first\n$/,
    );
  });
});
