import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { packageRoot, type Settings } from '../core/index.js';
import type { ClickHouseEndpoint } from '../warehouse/index.js';

export interface WorkerProcessOptions {
  readonly endpoint: ClickHouseEndpoint;
  readonly settings: Partial<Settings>;
}

/** `chancery transform` in its own process, configured by its environment. */
export class WorkerProcess {
  #child: ChildProcess | undefined;

  constructor(private readonly options: WorkerProcessOptions) {}

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  start(): void {
    const { endpoint, settings } = this.options;
    const env: Record<string, string> = {
      CLICKHOUSE_URL: endpoint.url,
      CLICKHOUSE_USER: endpoint.user,
      CLICKHOUSE_PASSWORD: endpoint.password.reveal(),
    };
    for (const [name, value] of Object.entries(settings)) {
      env[`CHANCERY_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`] = String(value);
    }
    this.#child = spawn(process.execPath, [join(packageRoot(), 'dist/cli/main.js'), 'transform'], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}
