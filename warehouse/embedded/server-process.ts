import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ChanceryError,
  type Clock,
  type Logger,
  packageRoot,
  Secret,
  STOP_MS,
  UnavailableError,
  UsageError,
} from '../../core/index.js';
import { answers, readEndpointFile, type ServerPorts } from './endpoint.js';
import type { Credentials } from './files.js';
import type { EmbeddedPaths } from './paths.js';
import { ServerOutput } from './server-output.js';

export interface ProcessOptions {
  readonly dataFolder: string;
  readonly paths: EmbeddedPaths;
  readonly ports: ServerPorts;
  readonly credentials: Credentials;
  /** Whether the process is restricted to its files; it then ends if that is not possible. */
  readonly confined: boolean;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Another server has locked the folder. */
export class FolderInUseError extends UsageError {}

const READY_TIMEOUT_MS = 60_000;
/** Longer than the child's own timeout. */
const KILL_AFTER_MS = STOP_MS.clickhouse + 100;
/** Returns 1 when the child's endless query runs: then the listeners are open. */
const SESSION_QUERY_COUNT = "SELECT count() FROM system.processes WHERE user = ''";
const NETWORK_ERROR = 210;
const CANNOT_OPEN_FILE = 76;
/** Disk full, or no memory or threads: the same start may succeed later. */
const RESOURCE_ERRORS = [74, 173, 241, 243, 439];

/** One run of the embedded server: a child process, until it is stopped or exits by itself. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #output: ServerOutput;
  #exitReason: string | undefined;
  /** Resolves with the reason when the process has exited. */
  readonly ended: Promise<string>;

  private constructor(private readonly options: ProcessOptions) {
    const { dataFolder, paths, ports, credentials, confined, logger } = options;
    // The system log tables of the last run would conflict with those of this one.
    for (const folder of ['data', 'metadata'])
      rmSync(join(paths.store, folder, 'system'), { recursive: true, force: true });
    this.#output = new ServerOutput((line) => {
      if (line.includes('<Fatal>')) logger.error({ line }, 'ClickHouse');
      else logger.debug({ line }, 'ClickHouse');
    });
    // Its own process group: Ctrl-C must not stop the database before the processes that write to it.
    // An empty environment: file('/proc/self/environ') would expose it.
    const script = compiled(confined ? 'confined-child.js' : 'child.js');
    this.#child = spawn(process.execPath, [script, dataFolder, ...listening(ports)], {
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true,
      cwd: paths.store,
      env: { TZ: 'UTC' },
    });
    this.#child.stdin?.on('error', () => undefined);
    this.#child.stdin?.write(`${credentials.owner}\n`);
    this.#child.stderr?.on('data', (chunk: Buffer) => this.#output.push(chunk));
    this.ended = once(this.#child, 'close').then(
      ([code, signal]) => (signal ? `killed by ${signal}` : `exit code ${code}: ${this.#output.reason}`),
      (error: Error) => error.message,
    );
    void this.ended.then((reason) => {
      this.#exitReason = reason;
    });
  }

  /**
   * Starts the process; resolves when it responds.
   * @throws FolderInUseError; UsageError when it cannot start with this configuration; UnavailableError when it was killed or
   * lacked resources, so that another attempt may succeed
   */
  static async start(options: ProcessOptions, signal: AbortSignal): Promise<ServerProcess> {
    signal.throwIfAborted();
    const process = new ServerProcess(options);
    try {
      await process.#ready(signal);
      return process;
    } catch (error) {
      await process.stop();
      throw error;
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get hasExited(): boolean {
    return this.#exitReason !== undefined;
  }

  /** Shuts the process down cleanly; kills it when that takes too long, which loses no acknowledged data. */
  async stop(): Promise<void> {
    if (this.#exitReason !== undefined) return;
    this.#child.stdin?.end();
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), KILL_AFTER_MS);
    await this.ended;
    clearTimeout(timer);
  }

  async #ready(signal: AbortSignal): Promise<void> {
    const { clock, ports, credentials } = this.options;
    const owner = { url: `http://127.0.0.1:${ports.http}`, user: 'owner', password: new Secret(credentials.owner) };
    const deadline = clock.elapsedMs() + READY_TIMEOUT_MS;
    while (!(await answers(owner, SESSION_QUERY_COUNT, '1'))) {
      if (this.#exitReason !== undefined) throw this.#startFailure(this.#exitReason);
      if (clock.elapsedMs() > deadline) {
        throw new UnavailableError(`the embedded ClickHouse did not respond within ${READY_TIMEOUT_MS / 1000} s`);
      }
      await clock.sleep(20, signal);
    }
  }

  #startFailure(reason: string): ChanceryError {
    const { paths, ports } = this.options;
    const { signalCode } = this.#child;
    if (signalCode !== null) {
      return new UnavailableError(
        `the embedded ClickHouse was killed by ${signalCode} while it started; start it again`,
      );
    }
    if (this.#output.errorCodes.has(CANNOT_OPEN_FILE)) {
      const other = readEndpointFile(paths);
      return new FolderInUseError(
        `${paths.store} is in use by another Chancery${other ? ` (process ${other.supervisor})` : ''}; ` +
          'stop that process, or choose another folder with --data',
      );
    }
    if (this.#output.errorCodes.has(NETWORK_ERROR)) {
      return new UsageError(
        `another process took port ${listening(ports).join(' or ')} while the embedded ClickHouse started; ` +
          'restart, or choose a port with --clickhouse-port',
      );
    }
    if (RESOURCE_ERRORS.some((code) => this.#output.errorCodes.has(code))) {
      return new UnavailableError(`the embedded ClickHouse lacks disk, memory or threads to start: ${reason}`);
    }
    return new UsageError(`the embedded ClickHouse did not start: ${reason}`);
  }
}

const listening = ({ http, tcp }: ServerPorts): string[] => (tcp === undefined ? [`${http}`] : [`${http}`, `${tcp}`]);

/** A compiled script, also when this file runs as TypeScript (tests). */
function compiled(name: string): string {
  const file = join(packageRoot(), 'dist/warehouse/embedded', name);
  if (existsSync(file)) return file;
  throw new UsageError(`${file} is missing: run \`npm run build\``);
}
