import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  Backoff,
  type Component,
  IntegrityError,
  packageRoot,
  STOP_MS,
  systemClock,
  UnavailableError,
  UsageError,
} from '../../core/index.js';
import { EXIT } from '../errors.js';

const MAIN = join(packageRoot(), 'dist/cli/main.js');

export type ProcessState = 'waiting' | 'starting' | 'ready' | 'restarting' | 'stopped' | 'failed';

export interface ProcessOptions {
  readonly name: string;
  /** Arguments of the `chancery` command, the subcommand first. */
  readonly args: readonly string[];
  /** A file descriptor that the process inherits. */
  readonly inherit: number;
  /** Timeout for the ready line, milliseconds. */
  readonly readyTimeoutMs: number;
  /** Called with every line on stderr. */
  readonly onLine: (line: string) => void;
  /** Called with messages for the screen: it ended, was restarted, or will not be restarted. */
  readonly onMessage: (text: string) => void;
}

/**
 * One `chancery` subcommand as a child process: started, awaited until ready, restarted with backoff when it ends, and
 * shut down cleanly. It has its own process group, so that Ctrl-C reaches only the parent, and a pipe as standard input,
 * so that it exits when the parent is gone, however the parent ended.
 */
export class SupervisedProcess implements Component {
  readonly name: string;
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #state: ProcessState = 'waiting';
  #ready: Record<string, unknown> = {};
  #lastLine = '';
  #restarts = 0;
  #backoff = new Backoff({ baseMs: 500, capMs: 15_000 });
  #stopping = new AbortController();

  constructor(private readonly options: ProcessOptions) {
    this.name = options.name;
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** Why it is not restarted, of a failed one: its last line on stderr. */
  get failure(): string | undefined {
    return this.#state === 'failed' ? this.#lastLine || describeExit(this.#child) : undefined;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** Its last ready line. */
  get ready(): Readonly<Record<string, unknown>> {
    return this.#ready;
  }

  /**
   * Resolves when the child is ready; one that ends before is restarted like a running one.
   * @throws UsageError, IntegrityError with the child's last line when it ended with an exit code after which it is not restarted
   */
  async start(signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, this.#stopping.signal]);
    try {
      await this.#launch(either).catch(async (error: unknown) => {
        if (either.aborted || this.#staysDown) throw error;
        await this.#exited;
        await this.#relaunch(either);
      });
    } catch (error) {
      this.#state = 'failed';
      throw error;
    }
    void this.#watch();
  }

  /** Sends SIGTERM, and SIGKILL after `withinMs`. */
  async stop(withinMs: number = STOP_MS.total): Promise<void> {
    this.#stopping.abort();
    const child = this.#child;
    if (child?.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), withinMs);
      await this.#exited;
      clearTimeout(killer);
    }
    if (this.#state !== 'failed') this.#state = 'stopped';
  }

  /** Spawns the child and waits for its ready line. */
  async #launch(signal: AbortSignal): Promise<void> {
    this.#state = this.#restarts === 0 ? 'starting' : 'restarting';
    const child = spawn(process.execPath, [MAIN, ...this.options.args], {
      stdio: ['pipe', 'pipe', 'pipe', this.options.inherit],
      detached: true,
    });
    this.#child = child;
    this.#lastLine = '';
    child.stdin?.on('error', () => undefined);
    this.#exited = new Promise((resolve) => {
      // `close` is emitted after the last line of stderr, which contains the reason.
      child.once('close', () => resolve());
      child.once('error', () => resolve());
    });
    if (child.stderr) {
      createInterface({ input: child.stderr }).on('line', (line) => {
        if (line.startsWith('chancery: ')) this.#lastLine = line.slice('chancery: '.length);
        this.options.onLine(line);
      });
    }
    await this.#readyLine(child, signal);
    this.#state = 'ready';
  }

  #readyLine(child: ChildProcess, signal: AbortSignal): Promise<void> {
    const { readyTimeoutMs, name } = this.options;
    return new Promise((resolve, reject) => {
      const finish = (action: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        action();
      };
      const onAbort = () => finish(() => reject(signal.reason));
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        const late = new UnavailableError(`${name} was not ready after ${readyTimeoutMs / 1000} s`);
        this.#lastLine = late.message;
        finish(() => reject(late));
      }, readyTimeoutMs);
      signal.addEventListener('abort', onAbort, { once: true });
      if (child.stdout) {
        createInterface({ input: child.stdout }).once('line', (line) => {
          this.#ready = readyFields(line);
          finish(resolve);
        });
      }
      child.once('close', () => finish(() => reject(this.#endedEarly(child))));
      child.once('error', (error) => finish(() => reject(error)));
    });
  }

  #endedEarly(child: ChildProcess | undefined): Error {
    const why = this.#lastLine || describeExit(child);
    if (!this.#staysDown) return new UnavailableError(`${this.name} did not start: ${why}`);
    const PermanentError = child?.exitCode === EXIT.usage ? UsageError : IntegrityError;
    return new PermanentError(`${this.name}: ${why}`);
  }

  /** Restarts the child whenever it ends without `stop`. */
  async #watch(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const startedAt = systemClock.nowMs();
      await this.#exited;
      if (signal.aborted) return;
      if (systemClock.nowMs() - startedAt > 60_000) this.#backoff.reset();
      try {
        await this.#relaunch(signal);
      } catch {
        if (signal.aborted) return;
        this.#state = 'failed';
        this.options.onMessage(`${this.name} stopped and is not restarted: ${this.failure}`);
        return;
      }
    }
  }

  /** Whether the child has ended with an exit code after which a restart cannot help. */
  get #staysDown(): boolean {
    const code = this.#child?.exitCode;
    return code === EXIT.usage || code === EXIT.needsIntervention;
  }

  /** Restarts the ended child until it is ready. Rejects when it may not be restarted or the signal is aborted. */
  async #relaunch(signal: AbortSignal): Promise<void> {
    for (;;) {
      if (this.#staysDown) throw this.#endedEarly(this.#child);
      const delayMs = Math.round(this.#backoff.nextDelayMs());
      this.#state = 'restarting';
      this.#restarts += 1;
      const why = this.#lastLine || describeExit(this.#child);
      this.options.onMessage(`${this.name} ended (${why}); restarting in ${(delayMs / 1000).toFixed(1)} s`);
      await systemClock.sleep(delayMs, signal);
      try {
        await this.#launch(signal);
      } catch {
        signal.throwIfAborted();
        await this.#exited;
        continue;
      }
      this.options.onMessage(`${this.name} is running again`);
      return;
    }
  }
}

function readyFields(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function describeExit(child: ChildProcess | undefined): string {
  if (!child) return 'it did not start';
  if (child.signalCode !== null) return `killed by ${child.signalCode}`;
  return child.exitCode === null ? 'it did not start' : `exit code ${child.exitCode}`;
}
