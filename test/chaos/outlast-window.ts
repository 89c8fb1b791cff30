import { setTimeout as delay } from 'node:timers/promises';
import { TRANSFORM_TABLES } from '../../transforms/index.js';
import { until } from '../pipeline/rig.js';
import { pick } from '../support/random.js';
import { runAs } from '../support/run-as.js';
import type { World } from './killers.js';

const WINDOW = 4;
/** The window that migrations give: `{log_settings}`. */
const USUAL_WINDOW = 10_000;
const CALM_MS = 90_000;

interface Alone extends World {
  readonly random: () => number;
  readonly faults: (on: boolean) => void;
}

/**
 * Pauses a worker for longer than ClickHouse remembers tokens: the window is made small, and the worker sleeps until
 * others have filled it several times over. Nothing else is struck meanwhile, so that what goes wrong is due to this.
 */
export function outlastWindow(world: Alone): Promise<void> {
  const { stage, tally, turns, random, faults } = world;
  return turns.alone(async () => {
    faults(false);
    await stage.proxy.settled();
    await until(CALM_MS, async () => stage.workers.every((worker) => worker.part) || 'a worker is away');
    await setWindow(world, WINDOW);
    const parts = await partsMade(world);
    const worker = pick(random, stage.workers);
    worker.part?.signal('SIGSTOP');
    await until(CALM_MS, async () => {
      const more = (await partsMade(world)) - parts;
      return more > 5 * WINDOW || `${more} inserts`;
    });
    worker.part?.signal('SIGCONT');
    tally.count('SIGSTOP of a worker beyond the window of tokens');
    await delay(1000);
    await setWindow(world, USUAL_WINDOW);
    faults(true);
  });
}

/** How many inserts price_ticks has seen: ClickHouse numbers the blocks of a table. */
async function partsMade({ stage }: World): Promise<number> {
  return stage.rig.value<number>(
    "SELECT max(max_block_number) FROM system.parts WHERE database = 'chancery' AND table = 'price_ticks'",
  );
}

async function setWindow({ stage }: World, parts: number): Promise<void> {
  const { owner } = stage.endpoint;
  for (const { name } of TRANSFORM_TABLES) {
    await until(CALM_MS, async () => {
      const sql = `ALTER TABLE chancery.${name} MODIFY SETTING non_replicated_deduplication_window = ${parts}`;
      return runAs(owner, sql).then(
        () => true as const,
        (error: Error) => error.message,
      );
    });
  }
}
