import { resolve } from 'node:path';
import {
  backoffMs,
  type Clock,
  type Component,
  describeError,
  identityOf,
  isFreePort,
  isRunning,
  type Logger,
  Stopped,
  systemClock,
  UsageError,
} from '../../core/index.js';
import { noLandlockReason } from './confine.js';
import {
  type EmbeddedEndpoint,
  type EndpointFile,
  killOrphan,
  readEndpointFile,
  readLastServer,
  removeEndpoint,
  type ServerPorts,
  toEndpoint,
  writeEndpoint,
  writeLastServer,
} from './endpoint.js';
import { type Credentials, type EmbeddedCluster, linkReadable, prepareFolder } from './files.js';
import { clickHouseLibrary } from './library.js';
import { embeddedPaths } from './paths.js';
import { freePort } from './ports.js';
import { FolderInUseError, type ProcessOptions, ServerProcess } from './server-process.js';

export interface EmbeddedOptions {
  /** Data folder of the instance; the server uses its subfolder `clickhouse`. */
  readonly dataFolder: string;
  /** The only database that the reader can access. */
  readonly database: string;
  /** HTTP port on loopback; 0 picks a free one, and the same one at the next start if it is still free. */
  readonly httpPort: number;
  /**
   * Native protocol port on loopback; 0 as for `httpPort`. Undefined (the default): off, because a failed native login
   * crashes this library's server.
   */
  readonly tcpPort?: number | undefined;
  /** Memory limit of the server, bytes. */
  readonly memoryBytes: number;
  /** Maximum rows of a result of the reader. Default: that of the setting readerMaxRows. */
  readonly readerMaxRows?: number;
  /** Maximum duration of a query of the reader, seconds. Default: that of the setting readerMaxSeconds. */
  readonly readerMaxSeconds?: number;
  /** Folders outside that the server may read, too. */
  readonly readableFolders?: readonly string[];
  /** Runs it without restricting it to its own files, also where the kernel could. */
  readonly unconfined?: boolean;
  /** Makes the server part of a cluster of embedded servers; the caller must choose their native ports. */
  readonly cluster?: EmbeddedCluster;
  readonly logger: Logger;
  readonly clock?: Clock;
}

export interface EmbeddedHealth {
  readonly ready: boolean;
  /** Number of restarts after the server exited unexpectedly. */
  readonly restarts: number;
  /** Whether the kernel restricts it to its own files; otherwise a reader can read all files of this user with file('…'). */
  readonly confined: boolean;
  /** Why it is not confined. */
  readonly unconfined?: string;
  /** Why it last exited, while it is not ready. */
  readonly cause?: string;
}

const ORPHAN_TIMEOUT_MS = 5000;
/** Delays of the second restart in a row and of later ones; the first is immediate. */
const RESTART_BACKOFF = { baseMs: 200, capMs: 10_000 };
/** A run that lasted this long resets the delay. */
const STEADY_MS = 60_000;

/**
 * The embedded ClickHouse server: one child process, restarted whenever it exits unexpectedly. The child shuts down
 * cleanly when this process exits or is killed.
 */
export class EmbeddedClickHouse implements Component {
  readonly name = 'clickhouse';
  readonly #paths;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  #ports: ServerPorts = { http: 0 };
  #credentials: Credentials | undefined;
  #process: ServerProcess | undefined;
  /** Decided once, whatever fails later; undefined when the server is restricted to its files. */
  #unconfined: string | undefined;
  #ready = false;
  #restarts = 0;
  #cause: string | undefined;
  #supervision: Promise<void> | undefined;

  constructor(private readonly options: EmbeddedOptions) {
    this.#paths = embeddedPaths(options.dataFolder);
    this.#clock = options.clock ?? systemClock;
  }

  /** URL and logins, which do not change when the child is restarted. Only after `start`. */
  get endpoint(): EmbeddedEndpoint {
    if (!this.#credentials || !this.#process) throw new Error('the embedded ClickHouse was not started');
    return toEndpoint(this.#endpointFile(this.#process.pid), this.#credentials);
  }

  get health(): EmbeddedHealth {
    return {
      ready: this.#ready,
      restarts: this.#restarts,
      confined: this.#unconfined === undefined,
      ...(this.#unconfined === undefined ? {} : { unconfined: this.#unconfined }),
      ...(this.#cause !== undefined && !this.#ready ? { cause: this.#cause } : {}),
    };
  }

  /**
   * Resolves when the server responds.
   * @throws UsageError when it cannot run: no library for this platform, port in use, folder in use or not writable
   */
  async start(signal: AbortSignal): Promise<void> {
    clickHouseLibrary();
    this.#unconfined = unconfinedReason(this.options);
    this.#credentials = prepareFolder(this.#paths, this.options);
    linkReadable(this.#paths, this.options.readableFolders ?? []);
    await this.#orphanGone(signal);
    await this.#choosePorts();
    try {
      await this.#launchWhenFree(AbortSignal.any([signal, this.#stop.signal]));
    } catch (error) {
      await this.#process?.stop();
      throw error;
    }
    this.#supervision = this.#supervise();
  }

  /**
   * Waits until the server of a killed Chancery process has released its ports: the server of the endpoint file, whose
   * threads may outlive its main process briefly, or one that was being started. One that hangs is killed.
   */
  async #orphanGone(signal: AbortSignal): Promise<void> {
    if (await this.#isOrphanGone(signal)) return;
    await killOrphan(this.options.dataFolder, ORPHAN_TIMEOUT_MS);
    await this.#isOrphanGone(signal);
  }

  async #isOrphanGone(signal: AbortSignal): Promise<boolean> {
    const deadline = this.#clock.elapsedMs() + ORPHAN_TIMEOUT_MS;
    for (;;) {
      const last = readLastServer(this.#paths);
      const supervisor = last?.supervisor;
      if (supervisor === undefined || isRunning(supervisor)) return true;
      const other = readEndpointFile(this.#paths);
      if (!(other && isRunning(other.pid)) && (await areFree(last))) return true;
      if (this.#clock.elapsedMs() > deadline) return false;
      await this.#clock.sleep(50, signal);
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Stopped('stop'));
    await this.#supervision;
    this.#ready = false;
    await this.#process?.stop();
    if (!this.#process) return;
    removeEndpoint(this.#paths, this.#process.pid);
    try {
      writeLastServer(this.#paths, this.#ports);
    } catch (error) {
      this.options.logger.debug({ err: error }, 'the next start may wait for the ports of this server');
    }
  }

  #endpointFile(pid: number): EndpointFile {
    const url = `http://127.0.0.1:${this.#ports.http}`;
    const { tcp: tcpPort } = this.#ports;
    return { url, tcpPort, pid, process: identityOf(pid), supervisor: process.pid, unconfined: this.#unconfined };
  }

  async #choosePorts(): Promise<void> {
    const { httpPort, tcpPort } = this.options;
    await assertFree(httpPort, '--clickhouse-port');
    await assertFree(tcpPort ?? 0, '--clickhouse-native-port');
    // The last ports are reused, so that clients of the former server find this one.
    const last = readLastServer(this.#paths);
    const ifFree = async (port: number | undefined) =>
      port !== undefined && (await isFreePort(port)) ? port : undefined;
    const http = httpPort || ((await ifFree(last?.http)) ?? (await freePort()));
    const tcp = tcpPort === 0 ? ((await ifFree(last?.tcp)) ?? (await freePort([http]))) : tcpPort;
    if (!httpPort && last && last.http !== http) {
      this.options.logger.warn(
        { previousPort: last.http, port: http },
        'the last port of ClickHouse is in use; choosing another one',
      );
    }
    this.#ports = { http, tcp };
    writeLastServer(this.#paths, { ...this.#ports, supervisor: process.pid });
  }

  /** Launches the server; retries while the server of a killed Chancery process shuts down and holds the folder's lock. */
  async #launchWhenFree(signal: AbortSignal): Promise<void> {
    const deadline = this.#clock.elapsedMs() + ORPHAN_TIMEOUT_MS;
    for (;;) {
      try {
        return await this.#launch(signal);
      } catch (error) {
        const other = readEndpointFile(this.#paths);
        const orphan = !other || !isRunning(other.supervisor);
        if (!(error instanceof FolderInUseError) || !orphan || this.#clock.elapsedMs() > deadline) throw error;
        await this.#clock.sleep(200, signal);
      }
    }
  }

  /** Starts a process unless one runs, and publishes its address. May be repeated when either failed. */
  async #launch(signal: AbortSignal): Promise<void> {
    if (!this.#process || this.#process.hasExited) this.#process = await this.#startProcess(signal);
    writeEndpoint(this.#paths, this.#endpointFile(this.#process.pid));
    this.#ready = true;
  }

  #startProcess(signal: AbortSignal): Promise<ServerProcess> {
    if (!this.#credentials) throw new Error('the embedded ClickHouse was not started');
    const options: ProcessOptions = {
      dataFolder: resolve(this.options.dataFolder),
      paths: this.#paths,
      ports: this.#ports,
      credentials: this.#credentials,
      confined: this.#unconfined === undefined,
      logger: this.options.logger,
      clock: this.#clock,
    };
    if (this.#unconfined !== undefined) {
      this.options.logger.warn(
        { reason: this.#unconfined },
        "every ClickHouse user can read this operating system user's files with file()",
      );
    }
    return ServerProcess.start(options, signal);
  }

  async #supervise(): Promise<void> {
    const { signal } = this.#stop;
    const stopped = new Promise<string>((done) =>
      signal.addEventListener('abort', () => done('stopped'), { once: true }),
    );
    for (let failures = 0; !signal.aborted; ) {
      const since = this.#clock.elapsedMs();
      const reason = await Promise.race([this.#process?.ended, stopped]);
      if (signal.aborted) return;
      this.#ready = false;
      this.#cause = reason;
      this.#restarts += 1;
      if (this.#clock.elapsedMs() - since > STEADY_MS) failures = 0;
      this.options.logger.warn({ restarts: this.#restarts }, `ClickHouse exited (${reason}); restarting it`);
      failures = await this.#restart(failures, signal);
    }
  }

  /** Retries until the server is ready or the signal is aborted; returns the number of failures so far. */
  async #restart(failures: number, signal: AbortSignal): Promise<number> {
    for (let tries = failures; ; tries++) {
      try {
        await this.#clock.sleep(tries === 0 ? 0 : backoffMs(tries - 1, RESTART_BACKOFF), signal);
        await this.#launch(signal);
        return tries + 1;
      } catch (error) {
        if (signal.aborted) return tries;
        this.#cause = describeError(error);
        const running = this.#process?.hasExited === false;
        const failed = running ? 'the endpoint file of ClickHouse cannot be written' : 'ClickHouse did not start';
        this.options.logger.error({ err: error }, `${failed}; retrying`);
      }
    }
  }
}

/** Why a server with these options is not restricted to its files here; undefined when it is. */
export function unconfinedReason({ unconfined }: Pick<EmbeddedOptions, 'unconfined'>): string | undefined {
  return unconfined ? '--clickhouse-unconfined' : noLandlockReason();
}

async function areFree({ http, tcp }: Partial<ServerPorts> = {}): Promise<boolean> {
  for (const port of [http, tcp]) if (port !== undefined && !(await isFreePort(port))) return false;
  return true;
}

async function assertFree(port: number, flag: string): Promise<void> {
  if (port !== 0 && !(await isFreePort(port))) {
    throw new UsageError(`port ${port} is taken; choose another with ${flag}, or 0 for a free one`);
  }
}
