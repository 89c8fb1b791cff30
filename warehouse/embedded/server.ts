import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, type Component, type Logger, Stopped, systemClock, UsageError } from '../../core/index.js';
import {
  answers,
  type EmbeddedEndpoint,
  type EndpointFile,
  isAlive,
  readEndpointFile,
  removeEndpoint,
  toEndpoint,
  writeEndpoint,
} from './endpoint.js';
import { type Credentials, embeddedPaths, prepareFolder } from './files.js';
import { clickHouseLibrary } from './library.js';
import { freePort, isFree } from './ports.js';
import { ServerOutput } from './server-output.js';

export interface EmbeddedOptions {
  /** Data folder of the instance; the server's things are in its `clickhouse` folder. */
  readonly dataFolder: string;
  /** The one database that the reader may see. */
  readonly database: string;
  /** HTTP port on loopback; 0 takes a free one and keeps it until `stop`. */
  readonly httpPort: number;
  /** Memory limit of the server, bytes. */
  readonly memoryBytes: number;
  readonly logger: Logger;
  readonly clock?: Clock;
}

export interface EmbeddedHealth {
  readonly ready: boolean;
  /** How often the server ended by itself (or was killed) and was started again. */
  readonly restarts: number;
  /** Why it last ended, while it is not ready. */
  readonly cause?: string;
}

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 4000;
const ORPHAN_TIMEOUT_MS = 5000;
const RESTART_DELAYS_MS = [0, 200, 500, 1000, 2000, 5000, 10_000];

/** 1 once the child's endless query runs: the listeners are open, and its session has no more to do. */
const SESSION_QUERY_COUNT = "SELECT count() FROM system.processes WHERE user = ''";

/** Another server holds the lock of the folder. */
class FolderInUseError extends UsageError {}

/**
 * The embedded ClickHouse server: one child process, started again whenever it ends without having been asked to.
 * The child ends in order when this process dies, however it dies.
 */
export class EmbeddedClickHouse implements Component {
  readonly name = 'clickhouse';
  readonly #paths;
  readonly #clock: Clock;
  #ports = { http: 0, tcp: 0 };
  #credentials: Credentials | undefined;
  #child: ChildProcess | undefined;
  #ready = false;
  #restarts = 0;
  #cause: string | undefined;
  #supervision: Promise<void> | undefined;
  readonly #stop = new AbortController();

  constructor(private readonly options: EmbeddedOptions) {
    this.#paths = embeddedPaths(options.dataFolder);
    this.#clock = options.clock ?? systemClock;
  }

  /** How to reach it; stays the same across restarts of the child. Only after `start`. */
  get endpoint(): EmbeddedEndpoint {
    if (!this.#credentials || !this.#child?.pid) throw new Error('the embedded ClickHouse was not started');
    return toEndpoint(this.#place(this.#child.pid), this.#credentials);
  }

  get health(): EmbeddedHealth {
    return {
      ready: this.#ready,
      restarts: this.#restarts,
      ...(this.#cause && !this.#ready ? { cause: this.#cause } : {}),
    };
  }

  /**
   * Resolves when the server answers.
   * @throws UsageError when it cannot run: no library for this platform, port taken, folder in use or not writable
   */
  async start(signal: AbortSignal): Promise<void> {
    clickHouseLibrary();
    this.#credentials = prepareFolder(this.#paths, this.options);
    await this.#choosePorts();
    const exited = await this.#launchWhenFree(AbortSignal.any([signal, this.#stop.signal]));
    this.#supervision = this.#supervise(exited);
  }

  /** The server of a Chancery that was killed needs a moment to notice and to let go of the folder. */
  async #launchWhenFree(signal: AbortSignal): Promise<{ reason: Promise<string> }> {
    const deadline = this.#clock.nowMs() + ORPHAN_TIMEOUT_MS;
    for (;;) {
      try {
        return await this.#launch(signal);
      } catch (error) {
        const other = readEndpointFile(this.#paths);
        const orphan = !other || !isAlive(other.supervisor);
        if (!(error instanceof FolderInUseError) || !orphan || this.#clock.nowMs() > deadline) throw error;
        await this.#clock.sleep(200, signal);
      }
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Stopped('stop'));
    await this.#supervision;
    await this.#end();
  }

  #place(pid: number): EndpointFile {
    return { url: `http://127.0.0.1:${this.#ports.http}`, tcpPort: this.#ports.tcp, pid, supervisor: process.pid };
  }

  async #choosePorts(): Promise<void> {
    const { httpPort } = this.options;
    if (httpPort !== 0 && !(await isFree(httpPort))) {
      throw new UsageError(`port ${httpPort} is taken; choose another with --clickhouse-port, or 0 for any`);
    }
    const http = httpPort || (await freePort());
    this.#ports = { http, tcp: await freePort([http]) };
  }

  /** Starts the child and waits until it answers; resolves with a promise of the reason why it ends. */
  async #launch(signal: AbortSignal): Promise<{ reason: Promise<string> }> {
    signal.throwIfAborted();
    // The library's log tables of the last run would collide with those of this one.
    for (const folder of ['data', 'metadata'])
      rmSync(join(this.#paths.store, folder, 'system'), { recursive: true, force: true });
    const output = new ServerOutput((line) => this.#log(line));
    const args = [childScript(), this.options.dataFolder, String(this.#ports.http), String(this.#ports.tcp)];
    // A process group of its own: a terminal's Ctrl-C must not end the database before those who write to it.
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'pipe'], detached: true });
    this.#child = child;
    child.stdin?.on('error', () => undefined);
    child.stderr?.on('data', (chunk: Buffer) => output.push(chunk));
    const reason = once(child, 'close').then(
      ([code, killed]) => (killed ? `killed by ${killed}` : `exit code ${code}: ${output.reason}`),
      (error: Error) => error.message,
    );
    const exited = { reason };
    let ended: string | undefined;
    void reason.then((text) => {
      ended = text;
    });
    const deadline = this.#clock.nowMs() + READY_TIMEOUT_MS;
    try {
      while (ended === undefined) {
        if (child.pid && this.#credentials) {
          const { owner } = toEndpoint(this.#place(child.pid), this.#credentials);
          if (await answers(owner, SESSION_QUERY_COUNT, '1')) break;
        }
        if (this.#clock.nowMs() > deadline)
          throw new UsageError(`the embedded ClickHouse did not answer in ${READY_TIMEOUT_MS / 1000} s`);
        await this.#clock.sleep(20, signal);
      }
    } catch (error) {
      await this.#end();
      throw error;
    }
    if (ended !== undefined) throw this.#startFailure(ended, output);
    this.#ready = true;
    if (child.pid) writeEndpoint(this.#paths, this.#place(child.pid));
    return exited;
  }

  #startFailure(ended: string, output: ServerOutput): UsageError {
    const codes = output.errorCodes;
    if (codes.has(76)) {
      const other = readEndpointFile(this.#paths);
      return new FolderInUseError(
        `${this.#paths.store} is in use by another Chancery${other ? ` (process ${other.supervisor})` : ''}; ` +
          'stop that one, or choose another folder with --data',
      );
    }
    if (codes.has(210)) {
      return new UsageError(
        `port ${this.#ports.http} or ${this.#ports.tcp} was taken while the embedded ClickHouse started; ` +
          'start again, or choose a port with --clickhouse-port',
      );
    }
    return new UsageError(`the embedded ClickHouse did not start: ${ended}`);
  }

  async #supervise(first: { reason: Promise<string> }): Promise<void> {
    const { signal } = this.#stop;
    const stopped = new Promise<'stopped'>((resolve) =>
      signal.addEventListener('abort', () => resolve('stopped'), { once: true }),
    );
    let exited = first;
    for (let failures = 0; !signal.aborted; ) {
      const since = this.#clock.nowMs();
      const reason = await Promise.race([exited.reason, stopped]);
      if (signal.aborted) return;
      this.#ready = false;
      this.#cause = reason;
      this.#restarts += 1;
      if (this.#clock.nowMs() - since > 60_000) failures = 0;
      this.options.logger.warn({ reason, restarts: this.#restarts }, 'ClickHouse ended; starting it again');
      while (!signal.aborted) {
        try {
          await this.#clock.sleep(RESTART_DELAYS_MS[Math.min(failures, RESTART_DELAYS_MS.length - 1)] ?? 0, signal);
          failures += 1;
          exited = await this.#launch(signal);
          break;
        } catch (error) {
          if (signal.aborted) return;
          this.#cause = error instanceof Error ? error.message : String(error);
          this.options.logger.error({ err: error }, 'ClickHouse did not start; trying again');
        }
      }
    }
  }

  /** Ends the child in order; kills it when that takes too long, which loses nothing that was acknowledged. */
  async #end(): Promise<void> {
    const child = this.#child;
    this.#ready = false;
    if (!child?.pid) return;
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'close');
      child.stdin?.end();
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await closed;
      clearTimeout(timer);
    }
    removeEndpoint(this.#paths, child.pid);
  }

  #log(line: string): void {
    if (line.includes('<Fatal>')) this.options.logger.error({ line }, 'ClickHouse');
    else this.options.logger.debug({ line }, 'ClickHouse');
  }
}

/** The compiled child: beside this file, or in `dist` when this file runs as TypeScript (tests). */
function childScript(): string {
  const beside = fileURLToPath(new URL('./child.js', import.meta.url));
  if (existsSync(beside)) return beside;
  const compiled = fileURLToPath(new URL('../../dist/warehouse/embedded/child.js', import.meta.url));
  if (existsSync(compiled)) return compiled;
  throw new UsageError(`${compiled} is missing: run \`npm run build\``);
}
