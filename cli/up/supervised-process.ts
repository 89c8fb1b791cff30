import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Backoff, type Component, STOP_MS, systemClock, UnavailableError, UsageError } from '../../core/index.js';
import { EXIT } from '../errors.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

export type ProcessState = 'waiting' | 'starting' | 'ready' | 'restarting' | 'stopped' | 'failed';

export interface ProcessOptions {
  readonly name: string;
  /** Arguments of the `chancery` command, the subcommand first. */
  readonly args: readonly string[];
  /** Longest wait for the ready line, milliseconds. */
  readonly readyTimeoutMs: number;
  /** Every line it writes on stderr. */
  readonly onLine: (line: string) => void;
  /** Told to the person at the screen: it died, it is back, it stays down. */
  readonly onNews: (text: string) => void;
}

/**
 * One `chancery` subcommand as a child process: started, waited for, started again with growing delays when it dies,
 * stopped in order. It has its own process group, so that Ctrl-C reaches only the parent, and a pipe as its standard
 * input, so that it ends when the parent is gone however the parent ended.
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

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** What it said on its ready line, the last time it became ready. */
  get ready(): Readonly<Record<string, unknown>> {
    return this.#ready;
  }

  /** Resolves when the child is ready. @throws UsageError with the child's own words when it ends or stays silent */
  async start(signal: AbortSignal): Promise<void> {
    try {
      await this.#launch(signal);
    } catch (error) {
      this.#state = 'failed';
      throw error;
    }
    void this.#watch();
  }

  /** Asks the child to end, and kills it when it still runs after `withinMs`. */
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
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    this.#lastLine = '';
    child.stdin.on('error', () => undefined);
    this.#exited = new Promise((resolve) => {
      // `close` comes after the last line of stderr, which says why.
      child.once('close', () => resolve());
      child.once('error', () => resolve());
    });
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (line.startsWith('chancery: ')) this.#lastLine = line.slice('chancery: '.length);
      this.options.onLine(line);
    });
    await this.#readyLine(child, signal);
    this.#state = 'ready';
  }

  #readyLine(child: ChildProcess, signal: AbortSignal): Promise<void> {
    const { readyTimeoutMs, name } = this.options;
    return new Promise((resolve, reject) => {
      const settle = (action: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        action();
      };
      const onAbort = () => settle(() => reject(signal.reason));
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        settle(() => reject(new UnavailableError(`${name} was not ready after ${readyTimeoutMs / 1000} s`)));
      }, readyTimeoutMs);
      signal.addEventListener('abort', onAbort, { once: true });
      if (child.stdout) {
        createInterface({ input: child.stdout }).once('line', (line) => {
          this.#ready = readyFields(line);
          settle(resolve);
        });
      }
      child.once('close', () => settle(() => reject(this.#endedEarly(child))));
      child.once('error', (error) => settle(() => reject(error)));
    });
  }

  #endedEarly(child: ChildProcess): Error {
    const why = this.#lastLine || describeExit(child);
    return child.exitCode === EXIT.usage
      ? new UsageError(`${this.name}: ${why}`)
      : new UnavailableError(`${this.name} did not start: ${why}`);
  }

  /** Starts the child again whenever it ends without being asked to. */
  async #watch(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const startedAt = systemClock.nowMs();
      await this.#exited;
      if (signal.aborted) return;
      if (systemClock.nowMs() - startedAt > 60_000) this.#backoff.reset();
      if (!(await this.#revive(signal))) return;
    }
  }

  /** Tries until the child is ready again; false when it stays down or is not wanted any more. */
  async #revive(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const child = this.#child;
      const why = this.#lastLine || (child ? describeExit(child) : 'it is gone');
      if (child?.exitCode === EXIT.usage || child?.exitCode === EXIT.needsDecision) {
        this.#state = 'failed';
        this.options.onNews(`${this.name} stopped and stays down: ${why}`);
        return false;
      }
      const delayMs = Math.round(this.#backoff.nextDelayMs());
      this.#state = 'restarting';
      this.#restarts += 1;
      this.options.onNews(`${this.name} ended (${why}); starting it again in ${(delayMs / 1000).toFixed(1)} s`);
      try {
        await systemClock.sleep(delayMs, signal);
        await this.#launch(signal);
      } catch {
        if (signal.aborted) return false;
        continue;
      }
      this.options.onNews(`${this.name} runs again`);
      return true;
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

function describeExit(child: ChildProcess): string {
  if (child.signalCode !== null) return `killed by ${child.signalCode}`;
  return child.exitCode === null ? 'no answer' : `exit code ${child.exitCode}`;
}
