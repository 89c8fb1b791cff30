import { type ScheduledTask, schedule, validateDetailed } from 'node-cron';
import { type CollectSettings, describeError, flagOf, type Logger, UsageError } from '../core/index.js';

/** Groups of polls with a common schedule; each has a setting, like `eventsSchedule`. */
const SCHEDULES = [
  'events',
  'newEvents',
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

/** An aborted signal means that the work should end. */
type Work = (signal: AbortSignal) => Promise<void> | void;

/** How often it is checked whether the system's time was set back, milliseconds, and by how much it counts. */
const CHECK_MS = 1000;
const SET_BACK_MS = 2000;

/** Runs work at the times of cron patterns; a run is skipped while the previous one lasts. */
export class Schedules {
  readonly #check = setInterval(() => this.#checkTime(), CHECK_MS).unref();
  /** Difference between the system's time and a monotonic one. */
  #offsetMs = offsetMs();
  readonly #tasks = new Map<ScheduleName, ScheduledTask>();
  readonly #works = new Map<ScheduleName, (() => void)[]>();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  /** @param settings checked by `checkSchedules` */
  constructor(
    private readonly settings: CollectSettings,
    private readonly log: Logger,
  ) {}

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

  /** Resolves when no run is active. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#check);
    await Promise.all([...this.#tasks.values()].map((task) => task.destroy()));
    await Promise.all(this.#running);
  }

  /** Each task waits until its next time: if the system's time was set back, that would take as long again. */
  #checkTime(): void {
    const offset = offsetMs();
    const setBack = offset < this.#offsetMs - SET_BACK_MS;
    this.#offsetMs = offset;
    if (!setBack) return;
    for (const task of this.#tasks.values()) {
      void task.stop();
      void task.start();
    }
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
    this.#tasks.set(name, schedule(this.settings[`${name}Schedule`], runAll, options));
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

const offsetMs = (): number => Date.now() - performance.now();

/** @throws UsageError for an invalid pattern */
export function checkSchedules(settings: CollectSettings): void {
  for (const name of SCHEDULES) checkPattern(name, settings[`${name}Schedule`]);
}

function checkPattern(name: ScheduleName, pattern: string): void {
  const { valid, errors } = validateDetailed(pattern);
  if (valid) return;
  const reason = errors.map((e) => e.message).join('; ');
  throw new UsageError(
    `${flagOf(`${name}Schedule`)} is ${JSON.stringify(pattern)}, which is not a cron pattern (${reason}); ` +
      'use one like "*/10 * * * * *"',
  );
}
