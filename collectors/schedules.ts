import { type ScheduledTask, schedule, validateDetailed } from 'node-cron';
import { describeError, flagOf, type Logger, type SettingName, UsageError } from '../core/index.js';

/** Checks the cron pattern of a setting. @throws UsageError */
export function checkPattern(setting: SettingName, pattern: string): void {
  const { valid, errors } = validateDetailed(pattern);
  if (valid) return;
  const reason = errors.map((e) => e.message).join('; ');
  throw new UsageError(
    `${flagOf(setting)} is ${JSON.stringify(pattern)}, which is no cron pattern (${reason}); give one like "*/10 * * * * *"`,
  );
}

/** Runs work at the times of cron patterns (with seconds), never twice at once; a time that comes too early is skipped. */
export class Schedules {
  readonly #tasks: ScheduledTask[] = [];
  readonly #running = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();

  constructor(private readonly log: Logger) {}

  /** Runs the work now and then at every time of the pattern, which has been checked. */
  add(setting: SettingName, pattern: string, work: (signal: AbortSignal) => Promise<void> | void): void {
    const run = () => this.#run(setting, work);
    const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
    this.#tasks.push(schedule(pattern, run, { name: setting, suppressMissedWarning: true, logger: quiet }));
    run();
  }

  /** Nothing runs any more when it resolves. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#tasks.splice(0).map((task) => task.destroy()));
    await Promise.all(this.#running.values());
  }

  #run(name: string, work: (signal: AbortSignal) => Promise<void> | void): void {
    const { signal } = this.#stop;
    if (this.#running.has(name) || signal.aborted) return;
    const running = (async () => {
      try {
        await work(signal);
      } catch (error) {
        if (!signal.aborted) this.log.error({ err: error }, `a scheduled task failed: ${describeError(error)}`);
      }
      this.#running.delete(name);
    })();
    this.#running.set(name, running);
  }
}
