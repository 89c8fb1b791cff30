import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const MAIN = join(import.meta.dirname, '../../dist/cli/main.js');
const READY_MS = 30_000;

/** A part of Chancery as a process of its own: `chancery <command> …`, ready when it has said so. */
export class Part {
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
  static async start<Ready>(command: string, args: readonly string[]): Promise<Part & { readonly ready: Ready }> {
    const child = spawn(process.execPath, [MAIN, command, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
    const part = new Part(command, child);
    const lines = createInterface({ input: child.stdout });
    const timeout = AbortSignal.timeout(READY_MS);
    const line = await Promise.race([
      once(lines, 'line', { signal: timeout }).then(([text]) => text as string),
      part.exited.then((code) => Promise.reject(new Error(`chancery ${command} ended with ${code}: ${part.stderr}`))),
    ]).catch((error) => {
      child.kill('SIGKILL');
      throw new Error(`chancery ${command} was not ready: ${part.stderr}`, { cause: error });
    });
    child.stdout.resume();
    return Object.assign(part, { ready: JSON.parse(line) as Ready });
  }

  /** What it wrote to stderr, the last 100,000 characters. */
  get stderr(): string {
    return this.#stderr;
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error(`chancery ${this.command} has no process`);
    return this.child.pid;
  }

  /** `kill -9`; resolves when the process is gone. */
  async kill9(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  /** Asks it to end; resolves with its exit code. */
  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM');
    return await this.exited;
  }
}
