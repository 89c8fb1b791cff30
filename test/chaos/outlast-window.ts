import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../core/index.js';
import { TRANSFORM_TABLES } from '../../transforms/index.js';
import { runAs } from '../support/run-as.js';
import { until } from '../support/until.js';
import type { Keeper } from './keeper.js';
import type { ChaosContext } from './killers.js';
import { SESSION_MS } from './stage.js';

const WINDOW = 4;
/** The deduplication window of the migrations: `{log_settings}`. */
const USUAL_WINDOW = 10_000;
/** Minimum number of parts that are inserted while the worker is paused. */
const PARTS_MEANWHILE = 5 * WINDOW;
/** Timeout of a restart, and of a statement in ClickHouse. */
const DEADLINE_MS = 120_000;
/** The other workers are blocked if they inserted nothing for this long; a busy machine gets more time at every stop. */
const STUCK_MS = 8_000;
const MAX_STUCK_MS = 40_000;
const MAX_STOPS = 20;

interface ExclusiveContext extends ChaosContext {
  readonly random: Random;
  readonly faults: (on: boolean) => void;
}

/**
 * Pauses a worker for longer than ClickHouse stores tokens: the window is reduced, and the worker stays stopped until others own
 * its partitions (on Kafka) and have filled the window several times. No other fault is injected meanwhile and none is in
 * progress, so that a failure is due to this.
 */
export function outlastWindow(context: ExclusiveContext): Promise<void> {
  const { stage, tally, turns, random, faults } = context;
  return turns.alone(async () => {
    tally.tell('waiting until nothing is under way');
    faults(false);
    await within(DEADLINE_MS, stage.proxy.quiesced(), 'the proxy has requests under way that do not end');
    await until(
      async () => stage.workers.every(({ service }) => service) || `away: ${awayOf(stage.workers)}`,
      DEADLINE_MS,
    );
    tally.tell('the window of tokens becomes small');
    await setWindow(context, WINDOW);
    tally.tell('a worker is stopped');
    for (let stops = 1; !(await outlast(context, random.pick(stage.workers), stops)); stops++) {
      tally.count('SIGSTOP of a worker that the others had to wait for');
      if (stops === MAX_STOPS) throw new Error(`nothing is inserted while a worker is stopped, ${stops} times`);
    }
    tally.count('SIGSTOP of a worker beyond the window of tokens');
    await delay(1000);
    await setWindow(context, USUAL_WINDOW);
    faults(true);
  });
}

/**
 * Stops a worker until the others have filled the window. False when they could not: a process that is stopped while it
 * writes to the embedded log blocks all other writers.
 */
async function outlast(context: ExclusiveContext, worker: Keeper, stops: number): Promise<boolean> {
  const first = await insertCount(context);
  const stoppedAt = performance.now();
  const minMs = context.random.integer(SESSION_MS, 3 * SESSION_MS);
  const stuckMs = Math.min(MAX_STUCK_MS, stops * STUCK_MS);
  let latest = { parts: first, at: stoppedAt };
  worker.service?.signal('SIGSTOP');
  try {
    for (;;) {
      await delay(50);
      const parts = await insertCount(context);
      const now = performance.now();
      if (parts > latest.parts) latest = { parts, at: now };
      if (parts - first > PARTS_MEANWHILE && now - stoppedAt > minMs) return true;
      if (now - latest.at > stuckMs) return false;
    }
  } finally {
    worker.service?.signal('SIGCONT');
  }
}

/** Rejects after a timeout. */
async function within(ms: number, work: Promise<void>, otherwise: string): Promise<void> {
  const late = new AbortController();
  const tooLong = delay(ms, undefined, { signal: late.signal }).then(() => Promise.reject(new Error(otherwise)));
  await Promise.race([work, tooLong]).finally(() => late.abort());
}

const awayOf = (workers: readonly Keeper[]): string =>
  workers
    .filter(({ service }) => !service)
    .map(({ name }) => name)
    .join(', ');

/** Number of inserts into price_ticks: ClickHouse numbers the blocks of a table. */
async function insertCount({ stage }: ChaosContext): Promise<number> {
  const parts = "SELECT max(max_block_number) FROM system.parts WHERE database = 'chancery' AND table = 'price_ticks'";
  return Number(await runAs(stage.endpoint.owner, parts));
}

async function setWindow({ stage }: ChaosContext, parts: number): Promise<void> {
  const { owner } = stage.endpoint;
  const setting = `non_replicated_deduplication_window = ${parts}`;
  const alter = (table: string) =>
    until(async () => {
      return runAs(owner, `ALTER TABLE chancery.${table} MODIFY SETTING ${setting}`).then(
        () => true as const,
        (error: Error) => error.message,
      );
    }, DEADLINE_MS);
  await Promise.all(TRANSFORM_TABLES.map(({ name }) => alter(name)));
}
