import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FileLock } from '../../core/file-lock.js';
import { packageRoot, sha256Hex } from '../../core/index.js';
import { until } from './until.js';

const EXAMPLES = join(packageRoot(), 'examples');
const CACHE = join(packageRoot(), '.cache');
const UV_REQUIREMENTS = join(import.meta.dirname, 'requirements-uv.txt');
const run = promisify(execFile);

/** A virtual environment, in `.cache/`, and the file in `examples/` with its packages. */
interface Environment {
  readonly folder: string;
  readonly requirements: string;
}

/** With every package of the examples and of the programs that read a release. */
const ALL: Environment = {
  folder: join(CACHE, 'python'),
  requirements: join(EXAMPLES, 'requirements.txt'),
};

/** With pandas 3, and nothing that needs pandas 2. */
export const PANDAS_3: Environment = {
  folder: join(CACHE, 'python-pandas-3'),
  requirements: join(EXAMPLES, 'requirements-pandas-3.txt'),
};

/** Has the hash of the requirements that are installed. */
const doneOf = ({ folder }: Environment): string => join(folder, 'requirements.sha256');

/** Why the examples cannot run here; undefined when they can. */
export function whyNoPython(): string | undefined {
  try {
    const version = execFileSync('python3', ['-c', 'import sys; print(*sys.version_info[:2])'], { encoding: 'utf8' });
    const [major = 0, minor = 0] = version.split(' ').map(Number);
    if (major !== 3 || minor < 11) return `python3 is ${major}.${minor}, not 3.11 or newer`;
  } catch {
    return 'there is no python3';
  }
  return existsSync(doneOf(ALL)) ? undefined : whyNoIndex();
}

function whyNoIndex(): string | undefined {
  try {
    execFileSync('python3', ['-m', 'pip', 'download', '-q', '--no-deps', '-d', ALL.folder, 'six==1.17.0'], {
      stdio: 'ignore',
      timeout: 30_000,
    });
    return undefined;
  } catch {
    return 'pip cannot download packages here';
  }
}

/** Makes a virtual environment, unless it is there for the same requirements. Test files that need it wait for each other. */
export async function makeEnvironment(environment = ALL): Promise<void> {
  const { folder, requirements } = environment;
  mkdirSync(CACHE, { recursive: true });
  const lock = new FileLock(`${folder}.lock`);
  try {
    await until(async () => lock.try('exclusive'));
    const wanted = sha256Hex(readFileSync(requirements, 'utf8'));
    const done = doneOf(environment);
    if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return;
    rmSync(folder, { recursive: true, force: true });
    await run('python3', ['-m', 'venv', '--without-pip', folder]);
    await install(join(folder, 'bin', 'python'), requirements);
    writeFileSync(done, wanted);
  } finally {
    lock.close();
  }
}

/** The files have all packages: there is nothing to resolve. */
const EXACTLY = ['install', '-q', '--no-deps', '--require-hashes', '-r'];
const PIP = ['-m', 'pip', '--disable-pip-version-check'];

/** With uv, which downloads several packages at a time. It does not read pip's configuration: where it fails, with pip. */
async function install(interpreter: string, requirements: string): Promise<void> {
  const uv = join(CACHE, 'python-uv');
  try {
    if (!existsSync(uv)) await run('python3', [...PIP, ...EXACTLY, UV_REQUIREMENTS, '--target', uv]);
    const options = ['--python', interpreter, '--cache-dir', join(CACHE, 'uv')];
    await run(join(uv, 'bin', 'uv'), ['pip', ...EXACTLY, requirements, ...options]);
  } catch {
    await run('python3', [...PIP, '--python', interpreter, ...EXACTLY, requirements], { maxBuffer: 1e8 });
  }
}

/** Runs a program of a virtual environment in `examples/`; throws with its output when it fails. */
export async function python(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { folder }: Environment = ALL,
): Promise<string> {
  // Compiled once, and not beside the examples.
  const compiled = { PYTHONPYCACHEPREFIX: join(folder, 'pycache') };
  const options = { cwd: EXAMPLES, env: { ...process.env, ...compiled, ...env }, maxBuffer: 1e8 };
  const { stdout } = await run(join(folder, 'bin', 'python'), [...args], options);
  return stdout;
}
