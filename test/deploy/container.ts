import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../core/index.js';
import type { ImageRecipe } from './dockerfile.js';

/** Environment variables of the machine that are not the container's. */
const MACHINE = { PATH: process.env['PATH'] ?? '' };

/**
 * Copies the files of the image's last stage to a folder: compiled code, and the packages of a production install.
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
    // With a link it would look for its library beside the link's target.
    if (name === 'chdb' && !embedded) cpSync(join(from, name), join(to, name), { recursive: true });
    else symlinkSync(join(from, name), join(to, name));
  }
}

/** One service without Docker: the image's entrypoint with the service's command, in its environment only. */
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
    this.#assertRuns();
    return spawnSync(command, args, { cwd: this.app, env: { ...MACHINE, ...this.env } }).status === 0;
  }

  /** Whether it is ready by its own account. Throws when it has ended. */
  async responds(): Promise<boolean> {
    this.#assertRuns();
    const url = `http://127.0.0.1:${this.env['CHANCERY_METRICS_PORT']}/healthz`;
    return fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** The sum of a metric of /metrics over its labels. */
  async metric(name: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${this.env['CHANCERY_METRICS_PORT']}/metrics`);
    const values = [...(await answer.text()).matchAll(new RegExp(`^${name}(?:{.*})? (.+)$`, 'gm'))];
    return values.reduce((sum, [, value]) => sum + Number(value), 0);
  }

  /** As `docker stop`; resolves with the exit code. */
  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    return this.exited;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  #assertRuns(): void {
    if (this.#child.exitCode === null) return;
    throw new Error(`${this.name} ended with ${this.#child.exitCode}:\n${this.#output}`);
  }
}
