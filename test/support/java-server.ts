import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const JVM = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'];
const QUIET = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn';

export interface JavaServerOptions {
  /** For messages. */
  readonly name: string;
  /** Folder of the jars. */
  readonly jars: string;
  /** Flags of the JVM: its heap. */
  readonly heap: readonly string[];
  /** File that the server's output goes to. */
  readonly log: string;
}

/** A server in a JVM of its own, which ends with this process. */
export class JavaServer {
  #child: ChildProcess | undefined;

  constructor(private readonly options: JavaServerOptions) {}

  get pid(): number {
    return this.#child?.pid ?? -1;
  }

  /** Starts it, and waits until `ready` resolves; rejects with its output when it exits before. */
  async start(main: string, args: readonly string[], ready: () => Promise<unknown>): Promise<void> {
    const { name, log } = this.options;
    const output = openSync(log, 'a');
    const child = spawn('java', this.#java(main, args), { stdio: ['ignore', output, output] });
    closeSync(output);
    const killWithUs = () => void child.kill('SIGKILL');
    process.once('exit', killWithUs);
    child.once('exit', () => process.off('exit', killWithUs));
    this.#child = child;
    const died = once(child, 'exit').then(() => {
      throw new Error(`${name} ended:\n${readFileSync(log, 'utf8').slice(-3000)}`);
    });
    await Promise.race([ready(), died]);
    died.catch(() => undefined);
  }

  /** Runs a tool of the same jars; resolves with its output. */
  async tool(main: string, args: readonly string[]): Promise<string> {
    const { stdout } = await run('java', this.#java(main, args), { maxBuffer: 2 ** 24 });
    return stdout;
  }

  /** kill -9, unless it has ended. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  #java(main: string, args: readonly string[]): string[] {
    const { heap, jars } = this.options;
    return [...heap, ...JVM, QUIET, '-cp', join(jars, '*'), main, ...args];
  }
}
