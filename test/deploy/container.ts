import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../core/index.js';
import type { ImageRecipe } from './dockerfile.js';

/** The part of the environment that is the machine's and not the container's. */
const MACHINE = { PATH: process.env['PATH'] ?? '' };

/**
 * Puts what the Dockerfile copies into a folder, as the last stage of the image has it: compiled code, and the packages
 * of a production install.
 * @param build where the build stage left its files
 * @param embedded whether the embedded ClickHouse is among the packages
 */
export function layOutImage(image: ImageRecipe, app: string, { build = packageRoot(), embedded = false } = {}): void {
  for (const { from, to } of image.copied) {
    const source = join(build, from.replace('/build/', ''));
    if (to === './node_modules') linkPackages(source, join(app, to), embedded);
    else cpSync(source, join(app, to), { recursive: true });
  }
}

function linkPackages(from: string, to: string, embedded: boolean): void {
  const { devDependencies } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  mkdirSync(to);
  const absent = new Set([...(embedded ? [] : ['@chdb']), ...Object.keys(devDependencies)]);
  for (const name of readdirSync(from).filter((one) => !absent.has(one))) {
    // A link would let it look for its library beside where it really is.
    if (name === 'chdb' && !embedded) cpSync(join(from, name), join(to, name), { recursive: true });
    else symlinkSync(join(from, name), join(to, name));
  }
}

/** One service, run by hand: the image's entrypoint with the service's command, in its environment and no other. */
export class Container {
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;
  #output = '';

  constructor(
    readonly name: string,
    private readonly app: string,
    command: readonly string[],
    private readonly env: Readonly<Record<string, string>>,
  ) {
    const child = spawn(process.execPath, [join(app, 'dist/cli/main.js'), ...command], {
      cwd: app,
      env: { ...MACHINE, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const killWithUs = () => void child.kill('SIGKILL');
    process.once('exit', killWithUs);
    this.exited = once(child, 'close').then(([code]) => {
      process.off('exit', killWithUs);
      return code as number | null;
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-50_000);
      });
    }
  }

  /** Its log. */
  get output(): string {
    return this.#output;
  }

  /** Runs the image's healthcheck beside it; true when it says that the container is healthy. */
  healthy([command = '', ...args]: readonly string[]): boolean {
    if (this.#child.exitCode !== null) {
      throw new Error(`${this.name} ended with ${this.#child.exitCode}:\n${this.#output}`);
    }
    return spawnSync(command, args, { cwd: this.app, env: { ...MACHINE, ...this.env } }).status === 0;
  }

  /** The sum of a metric over its labels, as /metrics says it. */
  async metric(name: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${this.env['CHANCERY_METRICS_PORT']}/metrics`);
    const values = [...(await answer.text()).matchAll(new RegExp(`^${name}(?:{.*})? (.+)$`, 'gm'))];
    return values.reduce((sum, [, value]) => sum + Number(value), 0);
  }

  /** What docker does on `stop`; resolves with the exit code. */
  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    return this.exited;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }
}
