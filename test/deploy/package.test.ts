import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { packageRoot } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { layOutImage } from './container.js';
import { readDockerfile } from './dockerfile.js';
import { startRegistry } from './local-registry.js';

const run = promisify(execFile);
const root = packageRoot();

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;

/** The files of the repository that `includes` takes, in a folder of their own with the packages of this one. */
function copyOfRepository(includes: (file: string) => boolean): string {
  const copy = temporaryFolder();
  const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  for (const file of tracked.split('\n').filter((name) => name !== '' && existsSync(join(root, name)))) {
    if (!includes(file)) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Runs `up` from a folder until it is ready, then stops it as Ctrl-C does. */
async function upRuns(command: string, args: readonly string[], cwd: string): Promise<void> {
  const data = join(temporaryFolder(), 'data');
  const child = spawn(command, [...args, 'up', '--data', data, '--events', '3', '--exchange-port', '0'], { cwd });
  const exited = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  await expect.poll(() => lines.join('\n'), { timeout: 200_000 }).toMatch(/^ready in /m);
  expect(readdirSync(data)).toEqual(expect.arrayContaining(['bus', 'clickhouse', 'exchange', 'layout']));
  child.kill('SIGINT');
  expect(await exited).toEqual([0, null]);
}

describe('the npm package', () => {
  it('has the compiled code without tests and benchmarks, installs the locked versions into an empty folder, and runs', async () => {
    const source = copyOfRepository(() => true);
    const packed = await run('npm', ['pack', '--json'], { cwd: source, maxBuffer: 1e8 });
    const [{ filename, files }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('['))) as [
      { filename: string; files: { path: string }[] },
    ];
    const paths = files.map(({ path }) => path);
    const folders = new Set(
      paths.map((path) =>
        path
          .split('/')
          .slice(0, path.startsWith('dist/') ? 2 : 1)
          .join('/'),
      ),
    );
    expect([...folders]).toEqual(expect.arrayContaining(['dist/cli', 'dist/client', 'sql', 'dashboards', 'README.md']));
    expect([...folders].filter((path) => /test|bench/.test(path))).toEqual([]);

    const target = temporaryFolder();
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
    const registry = await startRegistry(readJson(join(source, 'package.json')), join(source, filename));
    await run('npm', ['install', ...quiet, '--registry', registry.url, 'chancery'], { cwd: target, maxBuffer: 1e8 });
    registry.stop();
    const locked = readJson<Lock>(join(root, 'package-lock.json')).packages;
    const { packages: installed } = readJson<Lock>(join(target, 'node_modules/.package-lock.json'));
    const inside = 'node_modules/chancery/';
    const othersOf = (packages: Lock['packages']) =>
      Object.entries(packages).flatMap(([path, { version }]) =>
        path === 'node_modules/chancery' || locked[path.replace(inside, '')]?.version === version ? [] : [path],
      );
    expect(othersOf(installed)).toEqual([]);

    // By the path of the tarball, for which npm does not read npm-shrinkwrap.json.
    const byPath = temporaryFolder();
    await run('npm', ['install', ...quiet, '--package-lock-only', join(source, filename)], {
      cwd: byPath,
      maxBuffer: 1e8,
    });
    const resolved = readJson<Lock>(join(byPath, 'package-lock.json')).packages;
    expect(Object.keys(resolved).length).toBeGreaterThan(80);
    const versionsOf = (packages: Lock['packages']) =>
      Object.entries(packages).map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')} ${version}`);
    const known = new Set(versionsOf(locked));
    const others = versionsOf(resolved).filter((one) => !known.has(one) && !/^( |chancery )/.test(one));
    expect(others).toEqual([]);
    expect(readJson(join(source, 'package.json'))).toEqual(readJson(join(root, 'package.json')));
    expect(Object.keys(installed)).toContain(`${inside}node_modules/fastify`);
    expect(existsSync(join(target, inside, 'node_modules/vitest'))).toBe(false);
    await upRuns(join(target, 'node_modules/.bin/chancery'), [], target);
  });
});

describe('the image', () => {
  it('runs its entry point on nothing but its files', async () => {
    const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
    const sent = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    const build = copyOfRepository((file) => sent.some((path) => file === path || file.startsWith(`${path}/`)));
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.image.json'], {
      cwd: build,
    });
    for (const script of ['build-page.mjs', 'bundle-programs.mjs']) {
      await run(process.execPath, [join('packaging', script)], { cwd: build });
    }
    const image = readDockerfile();
    expect(image.entrypoint).toEqual(['chancery']);
    const app = temporaryFolder();
    layOutImage(image, app, { build, embedded: true });
    expect(readdirSync(app).sort()).toEqual(['dashboards', 'dist', 'node_modules', 'package.json', 'sql']);
    await upRuns(process.execPath, [join(app, 'dist/cli/main.js')], app);
  });
});
