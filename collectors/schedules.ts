import { type ScheduledTask, schedule, validateDetailed } from 'node-cron';
import { describeError, flagOf, type Logger, UsageError } from '../core/index.js';

/** What is polled at the same times; each has a setting, like `eventsSchedule`. */
export const SCHEDULES = [
  'events',
  'reference',
  'history',
  'holdings',
  'trades',
  'transactions',
  'tpsl',
  'stats',
  'activity',
] as const;
export type ScheduleName = (typeof SCHEDULES)[number];
/** Cron patterns with seconds. */
export type SchedulePatterns = Readonly<Record<ScheduleName, string>>;

/** An aborted signal means that the work should end. */
type Work = (signal: AbortSignal) => Promise<void> | void;

/** Runs work at the times of cron patterns, never twice at once: it is skipped while its previous run lasts. */
export class Schedules {
  readonly #tasks = new Map<ScheduleName, ScheduledTask>();
  readonly #works = new Map<ScheduleName, (() => void)[]>();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  /** @throws UsageError for a pattern that cannot be read */
  constructor(
    private readonly patterns: SchedulePatterns,
    private readonly log: Logger,
  ) {
    for (const name of SCHEDULES) checkPattern(name, patterns[name]);
  }

  /** Runs the work now and then at every time of the schedule. */
  add(name: ScheduleName, work: Work): void {
    let running = false;
    const run = () => {
      if (running || this.#stop.signal.aborted) return;
      running = true;
      const done = this.#run(work).finally(() => {
        running = false;
        this.#running.delete(done);
      });
      this.#running.add(done);
    };
    this.#worksOf(name).push(run);
    run();
  }

  /** Nothing runs any more when it resolves. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#tasks.values()].map((task) => task.destroy()));
    await Promise.all(this.#running);
  }

  #worksOf(name: ScheduleName): (() => void)[] {
    const existing = this.#works.get(name);
    if (existing) return existing;
    const works: (() => void)[] = [];
    this.#works.set(name, works);
    const runAll = () => {
      for (const run of works) run();
    };
    const silent = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
    const options = { name, suppressMissedWarning: true, logger: silent };
    this.#tasks.set(name, schedule(this.patterns[name], runAll, options));
    return works;
  }

  async #run(work: Work): Promise<void> {
    const { signal } = this.#stop;
    try {
      await work(signal);
    } catch (error) {
      if (!signal.aborted) this.log.error({ err: error }, `a scheduled task failed: ${describeError(error)}`);
    }
  }
}

function checkPattern(name: ScheduleName, pattern: string): void {
  const { valid, errors } = validateDetailed(pattern);
  if (valid) return;
  const reason = errors.map((e) => e.message).join('; ');
  throw new UsageError(
    `${flagOf(`${name}Schedule`)} is ${JSON.stringify(pattern)}, which is not a cron pattern (${reason}); ` +
      'give one like "*/10 * * * * *"',
  );
}
