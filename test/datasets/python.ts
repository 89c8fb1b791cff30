import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot, sha256Hex } from '../../core/index.js';

const EXAMPLES = join(packageRoot(), 'examples');
const FOLDER = join(packageRoot(), '.cache', 'python');
const REQUIREMENTS = join(EXAMPLES, 'requirements.txt');
const DONE = join(FOLDER, 'requirements.sha256');
const run = promisify(execFile);

/** Why the examples cannot run here, and whether that is a defect where `CI` is set; undefined when they can. */
export function whyNoPython(): { readonly why: string; readonly failsInCi: boolean } | undefined {
  try {
    const version = execFileSync('python3', ['-c', 'import sys; print(*sys.version_info[:2])'], { encoding: 'utf8' });
    const [major = 0, minor = 0] = version.split(' ').map(Number);
    if (major !== 3 || minor < 11) return { why: `python3 is ${major}.${minor}, not 3.11 or newer`, failsInCi: true };
  } catch {
    return { why: 'there is no python3', failsInCi: true };
  }
  const why = existsSync(DONE) ? undefined : whyNoIndex();
  return why === undefined ? undefined : { why, failsInCi: false };
}

function whyNoIndex(): string | undefined {
  try {
    execFileSync('python3', ['-m', 'pip', 'download', '-q', '--no-deps', '-d', FOLDER, 'six==1.17.0'], {
      stdio: 'ignore',
      timeout: 30_000,
    });
    return undefined;
  } catch {
    return 'pip cannot download packages here';
  }
}

/** Makes the virtual environment of the examples in `.cache/python`, unless it is there for the same requirements. */
export async function makeEnvironment(): Promise<void> {
  const wanted = sha256Hex(readFileSync(REQUIREMENTS, 'utf8'));
  if (existsSync(DONE) && readFileSync(DONE, 'utf8') === wanted) return;
  rmSync(FOLDER, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', FOLDER]);
  const args = ['install', '-q', '--disable-pip-version-check', '--require-hashes', '-r', REQUIREMENTS];
  await run(join(FOLDER, 'bin', 'pip'), args, { maxBuffer: 1e8 });
  writeFileSync(DONE, wanted);
}

/** Runs a program of the virtual environment in `examples/`; throws with its output when it fails. */
export async function python(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const options = { cwd: EXAMPLES, env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env }, maxBuffer: 1e8 };
  const { stdout } = await run(join(FOLDER, 'bin', 'python'), [...args], options);
  return stdout;
}
