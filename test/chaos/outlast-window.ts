import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../core/index.js';
import { TRANSFORM_TABLES } from '../../transforms/index.js';
import { runAs } from '../support/run-as.js';
import { until } from '../support/until.js';
import type { Keeper } from './keeper.js';
import type { World } from './killers.js';
import { SESSION_MS } from './stage.js';

const WINDOW = 4;
/** The deduplication window of the migrations: `{log_settings}`. */
const USUAL_WINDOW = 10_000;
/** Minimum number of parts that are inserted while the worker is paused. */
const PARTS_ASLEEP = 5 * WINDOW;
/** Timeout of a restart, and of a statement in ClickHouse. */
const DEADLINE_MS = 120_000;
/** The other workers are blocked if they inserted nothing for this long. */
const STUCK_MS = 8_000;
const MAX_SLEEPS = 20;

interface Alone extends World {
  readonly random: Random;
  readonly faults: (on: boolean) => void;
}

/**
 * Pauses a worker for longer than ClickHouse remembers tokens: the window is made small, and the worker sleeps until
 * others own its partitions (on Kafka) and have filled the window several times over. Nothing else is struck meanwhile,
 * and nothing that was struck before is under way, so that what goes wrong is due to this.
 */
export function outlastWindow(world: Alone): Promise<void> {
  const { stage, tally, turns, random, faults } = world;
  return turns.alone(async () => {
    tally.tell('waiting until nothing is under way');
    faults(false);
    await within(DEADLINE_MS, stage.proxy.quiesced(), 'the proxy has requests under way that do not end');
    await until(async () => stage.workers.every(({ part }) => part) || `away: ${awayOf(stage.workers)}`, DEADLINE_MS);
    tally.tell('the window of tokens becomes small');
    await setWindow(world, WINDOW);
    tally.tell('a worker is stopped');
    for (let sleeps = 1; !(await outsleep(world, random.pick(stage.workers))); sleeps++) {
      tally.count('SIGSTOP of a worker that the others had to wait for');
      if (sleeps === MAX_SLEEPS) throw new Error(`nothing is inserted while a worker sleeps, ${sleeps} times`);
    }
    tally.count('SIGSTOP of a worker beyond the window of tokens');
    await delay(1000);
    await setWindow(world, USUAL_WINDOW);
    faults(true);
  });
}

/**
 * Stops a worker until the others have passed the window. False when they could not: a process that is stopped while it
 * writes to the embedded log keeps all others from writing.
 */
async function outsleep(world: Alone, worker: Keeper): Promise<boolean> {
  const first = await partsMade(world);
  const asleepAt = performance.now();
  const leastMs = world.random.integer(SESSION_MS, 3 * SESSION_MS);
  let latest = { parts: first, at: asleepAt };
  worker.part?.signal('SIGSTOP');
  try {
    for (;;) {
      await delay(50);
      const parts = await partsMade(world);
      const now = performance.now();
      if (parts > latest.parts) latest = { parts, at: now };
      if (parts - first > PARTS_ASLEEP && now - asleepAt > leastMs) return true;
      if (now - latest.at > STUCK_MS) return false;
    }
  } finally {
    worker.part?.signal('SIGCONT');
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
    .filter(({ part }) => !part)
    .map(({ name }) => name)
    .join(', ');

/** Number of inserts into price_ticks: ClickHouse numbers the blocks of a table. */
async function partsMade({ stage }: World): Promise<number> {
  return stage.rig.value<number>(
    "SELECT max(max_block_number) FROM system.parts WHERE database = 'chancery' AND table = 'price_ticks'",
  );
}

async function setWindow({ stage }: World, parts: number): Promise<void> {
  const { owner } = stage.endpoint;
  for (const { name } of TRANSFORM_TABLES) {
    await until(async () => {
      const sql = `ALTER TABLE chancery.${name} MODIFY SETTING non_replicated_deduplication_window = ${parts}`;
      return runAs(owner, sql).then(
        () => true as const,
        (error: Error) => error.message,
      );
    }, DEADLINE_MS);
  }
}
