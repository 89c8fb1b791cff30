import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../../core/index.js';

const COMPILED = join(packageRoot(), 'dist');
const READY_MS = 180_000;

/** A process with a ready line: a service of Chancery (`chancery <command> …`), or a script. */
export class ServiceProcess {
  readonly exited: Promise<number | null>;
  #stderr = '';

  private constructor(
    readonly command: string,
    private readonly child: ChildProcess,
  ) {
    this.exited = once(child, 'close').then(([code]) => code as number | null);
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-100_000);
    });
  }

  /** Starts the compiled command and waits for its line of JSON on stdout. */
  static start<Ready>(command: string, args: readonly string[]): Promise<ServiceProcess & { readonly ready: Ready }> {
    return ServiceProcess.#launch(command, [join(COMPILED, 'cli/main.js'), command, ...args]);
  }

  /** Starts a compiled script, by its source path, with a ready line of the same form. */
  static startScript<Ready>(
    script: string,
    args: readonly string[],
  ): Promise<ServiceProcess & { readonly ready: Ready }> {
    return ServiceProcess.#launch(script, [join(COMPILED, script), ...args]);
  }

  static async #launch<Ready>(
    command: string,
    args: readonly string[],
  ): Promise<ServiceProcess & { readonly ready: Ready }> {
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const service = new ServiceProcess(command, child);
    const lines = createInterface({ input: child.stdout });
    const timeout = AbortSignal.timeout(READY_MS);
    const line = await Promise.race([
      once(lines, 'line', { signal: timeout }).then(([text]) => text as string),
      service.exited.then((code) => Promise.reject(new Error(`${command} ended with ${code}: ${service.stderr}`))),
    ]).catch((error) => {
      child.kill('SIGKILL');
      throw new Error(`${command} was not ready: ${service.stderr}`, { cause: error });
    });
    child.stdout.resume();
    return Object.assign(service, { ready: JSON.parse(line) as Ready });
  }

  /** The last 100,000 characters of its stderr. */
  get stderr(): string {
    return this.#stderr;
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error(`${this.command} has no process`);
    return this.child.pid;
  }

  /** `kill -9`; resolves when the process has ended. */
  async kill9(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  /** Pauses it (SIGSTOP), or resumes it (SIGCONT). */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.child.kill(name);
  }

  /** Sends SIGTERM; resolves with its exit code. */
  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM');
    return await this.exited;
  }
}
