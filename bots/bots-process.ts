import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopback } from '../client/index.js';
import { Backoff, type Clock, type Component, type Logger, packageRoot, UsageError } from '../core/index.js';
import type { BotsSetup, FairValues } from './child-messages.js';

/** Interval of sending the hidden chances, at pace 1 and at least, milliseconds. */
const FAIR_VALUES_MS = 1000;
const MIN_FAIR_VALUES_MS = 100;
/** While this much is unread by the child, chances are not sent, bytes. */
const MAX_UNREAD_BYTES = 1_000_000;
const RESTART = { baseMs: 200, capMs: 15_000 };
/** After running this long, the next restart is not delayed by earlier ones, milliseconds. */
const STABLE_AFTER_MS = 60_000;
/** Then SIGKILL: bots have nothing that could be lost. Milliseconds. */
const STOP_TIMEOUT_MS = 600;

interface BotsProcessOptions extends BotsSetup {
  /** For informed traders: the current hidden chance of every market, 0..1, by market ID. */
  readonly fairValues: () => ReadonlyMap<string, number>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The bots in a child process, so that they do not block the exchange's event loop. It gets keys and hidden chances on
 * standard input, is restarted when it dies, and exits when its parent ends, however that happens.
 */
export class BotsProcess implements Component {
  readonly name = 'bots';
  readonly #stopped = new AbortController();
  readonly #backoff = new Backoff(RESTART);
  #child: ChildProcess | undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: BotsProcessOptions) {}

  /** Process ID of the running child; undefined while there is none. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Resolves when the process was started; it trades as soon as it is connected.
   * @throws UsageError when the exchange is not on loopback, where clients refuse plain HTTP, or the program is not built
   */
  async start(): Promise<void> {
    const { hostname } = new URL(this.options.url);
    if (!isLoopback(hostname)) {
      throw new UsageError(`bots cannot trade at ${hostname}: use --host 127.0.0.1 or 0.0.0.0, or --bots 0`);
    }
    const program = join(packageRoot(), 'dist/bots/child.js');
    if (!existsSync(program)) throw new UsageError(`${program} is missing: run \`npm run build\``);
    this.#running = Promise.all([this.#keepAlive(program), this.#sendFairValues()]);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    const child = this.#child;
    child?.stdin?.end();
    child?.kill('SIGTERM');
    const timer = setTimeout(() => child?.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await this.#running;
    clearTimeout(timer);
  }

  async #keepAlive(program: string): Promise<void> {
    const { clock, log } = this.options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const startedAtMs = clock.nowMs();
      const reason = await this.#run(program);
      if (signal.aborted) return;
      if (clock.nowMs() - startedAtMs > STABLE_AFTER_MS) this.#backoff.reset();
      const delayMs = Math.round(this.#backoff.nextDelayMs());
      log.warn({ reason, delayMs }, 'the bots ended; they are started again');
      await clock.sleep(delayMs, signal).catch(() => undefined);
    }
  }

  /** Resolves with the reason when the process has ended. */
  async #run(program: string): Promise<string> {
    // In its own process group, so that Ctrl-C does not reach the bots before `stop`; without the parent's environment.
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'ignore', 'inherit'], detached: true, env: {} });
    this.#child = child;
    child.stdin?.on('error', () => undefined);
    const { url, seed, pace, accounts } = this.options;
    this.#send({ url, seed, pace, accounts: accounts.map(({ apiKey, apiSecret }) => ({ apiKey, apiSecret })) });
    try {
      const [code, signal] = await once(child, 'exit');
      return signal ? `killed by ${signal}` : `exit code ${code}`;
    } catch (error) {
      return String(error);
    } finally {
      this.#child = undefined;
    }
  }

  async #sendFairValues(): Promise<void> {
    const { clock, pace, fairValues } = this.options;
    const { signal } = this.#stopped;
    const everyMs = Math.max(MIN_FAIR_VALUES_MS, FAIR_VALUES_MS / pace);
    while (!signal.aborted) {
      this.#send({ fair: [...fairValues()] });
      await clock.sleep(everyMs, signal).catch(() => undefined);
    }
  }

  #send(message: BotsSetup | FairValues): void {
    const stdin = this.#child?.stdin;
    if (!stdin || stdin.writableEnded || stdin.writableLength > MAX_UNREAD_BYTES) return;
    stdin.write(`${JSON.stringify(message)}\n`);
  }
}
