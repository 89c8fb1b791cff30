import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRetryable, Random } from '../../../core/index.js';
import type { BlockStore } from '../../../warehouse/exactly-once/block-store.js';
import { type Batch, ExactlyOnceWriter, StatementError } from '../../../warehouse/index.js';
import {
  blocksOf,
  Crashed,
  Decisions,
  HELD_FOR_MS,
  idOf,
  Life,
  ModelBus,
  type ModelRow,
  ModelServer,
  partitionFor,
  rowsOf,
  storeFor,
  TABLES,
  type Without,
} from './model.js';

const RECORDS = 30;
const never = new AbortController().signal;

interface ModelRun {
  readonly bus: ModelBus;
  readonly server: ModelServer;
  readonly decisions: Decisions;
  readonly random: Random;
}

function newModelRun(choices: readonly number[] = [], seed = 1, window = 100): ModelRun {
  const decisions = new Decisions(choices);
  return { bus: new ModelBus(), server: new ModelServer(decisions, window), decisions, random: new Random(seed) };
}

/** One run of a worker: takes over, then writes batches of random sizes until all records are written or it is killed. */
async function work(run: ModelRun, life: Life, without: Without = {}, time = { ms: 0 }): Promise<void> {
  const { bus, server, decisions, random } = run;
  const clock = {
    nowMs: () => time.ms,
    elapsedMs: () => time.ms,
    nowMicros: () => time.ms * 1000,
    sleep: async (ms: number) => {
      time.ms += Math.min(ms, 100);
      server.tick();
      await Promise.resolve();
      if (life.dead) throw new Crashed();
    },
  };
  const writer = new ExactlyOnceWriter(
    { shards: [], tables: TABLES, transforms: '1', clock, random: () => random.next() },
    [storeFor(server, life, without, () => random.next())],
  );
  const partition = partitionFor(bus, life, without, decisions);
  const rebuild = (start: number, end: number) => life.step(() => blocksOf(start, end));
  const open = await writer.open(partition, { rebuild, signal: never });
  while (open.nextOffset < RECORDS) {
    const start = open.nextOffset;
    const end = Math.min(RECORDS - 1, start + Math.floor(random.next() * 12));
    const batch: Batch = { start, end, blocks: await life.step(() => blocksOf(start, end)) };
    void open.write(batch).catch(() => undefined);
    await open.ready();
  }
  await open.flush();
}

/**
 * Runs workers one after the other, each killed at the given step, until one finishes.
 * @param forgets whether the server has dropped its tokens before the next worker
 */
async function workers(
  run: ModelRun,
  deaths: readonly number[],
  without: Without = {},
  forgets: (death: number) => boolean = () => false,
): Promise<void> {
  for (let i = 0; i < deaths.length + 50; i++) {
    if (i > 0 && forgets(i - 1)) run.server.forget();
    try {
      await work(run, new Life(deaths[i] ?? -1), without);
      return;
    } catch (error) {
      if (!(error instanceof Crashed) && !isRetryable(error)) throw error;
    }
  }
  throw new Error('no worker came through');
}

/** Compares the stored rows, and what the view counted of them, with the expected ones; returns the differences. */
function faultsOf(run: ModelRun): string[] {
  const faults = rowFaultsOf(run);
  const counted = [...run.server.viewCounts.values()].reduce((sum, rows) => sum + rows, 0);
  if (counted !== rowsOf(0, RECORDS - 1).get('ticks')?.length) faults.push(`the view counted ${counted} ticks`);
  return faults;
}

/** The differences of the rows alone. */
function rowFaultsOf({ server }: ModelRun): string[] {
  server.drain();
  const expected = rowsOf(0, RECORDS - 1);
  const faults: string[] = [];
  const range = (row: ModelRow) => `${row.offset}/${row.index}`;
  for (const [name, rows] of expected) {
    const there = server.tables.get(name)?.rows ?? [];
    if (name === 'states') {
      const newest = (list: readonly ModelRow[]) => {
        const byId = new Map<number, number>();
        for (const row of list) byId.set(idOf(row), Math.max(byId.get(idOf(row)) ?? -1, row.offset));
        return JSON.stringify([...byId].sort((a, b) => a[0] - b[0]));
      };
      if (newest(there) !== newest(rows)) faults.push('states: an ID is missing or old');
      continue;
    }
    const positions = new Set(there.map(range));
    for (const row of rows) if (!positions.has(range(row))) faults.push(`${name}: ${range(row)} is missing`);
    if (positions.size < there.length) faults.push(`${name}: ${there.length - positions.size} rows are duplicated`);
  }
  return faults;
}

/** The random inputs of a run. */
const story = fc.record({
  choices: fc.array(fc.nat({ max: 719 }), { minLength: 0, maxLength: 200 }),
  deaths: fc.array(fc.nat({ max: 120 }), { maxLength: 6 }),
  seed: fc.integer(),
});

describe('the exactly-once protocol', () => {
  it('writes every row once when nothing fails', async () => {
    const run = newModelRun();
    await workers(run, []);
    expect(faultsOf(run)).toEqual([]);
    expect(run.bus).toMatchObject({ offset: RECORDS, intent: undefined });
  });

  it('survives the death of the worker before and after every single step', async () => {
    const life = new Life(-1);
    await work(newModelRun(), life);
    expect(life.steps).toBeGreaterThan(50);
    for (let diesAt = 0; diesAt < life.steps; diesAt++) {
      const run = newModelRun();
      await workers(run, [diesAt]);
      expect(faultsOf(run), `died at step ${diesAt}`).toEqual([]);
    }
  });

  it('survives the death of the worker at every step of a recovery', async () => {
    const first = 60;
    const recovery = new Life(-1);
    const rehearsal = newModelRun();
    await work(rehearsal, new Life(first)).catch(() => undefined);
    await work(rehearsal, recovery);
    for (let diesAt = 0; diesAt < recovery.steps; diesAt++) {
      const run = newModelRun();
      await workers(run, [first, diesAt]);
      expect(faultsOf(run), `died at step ${diesAt} of the recovery`).toEqual([]);
    }
  });

  it('survives a death at any step that is recovered after the deduplication window has passed', async () => {
    const life = new Life(-1);
    await work(newModelRun(), life);
    for (let diesAt = 0; diesAt < life.steps; diesAt++) {
      const run = newModelRun();
      await workers(run, [diesAt], {}, () => true);
      expect(faultsOf(run), `died at step ${diesAt}`).toEqual([]);
    }
  });

  it('neither loses nor duplicates rows for any sequence of failures, with dropped tokens', async () => {
    const forgetful = fc.tuple(story, fc.array(fc.boolean(), { maxLength: 12 }));
    await fc.assert(
      fc.asyncProperty(forgetful, async ([{ choices, deaths, seed }, forgotten]) => {
        const run = newModelRun(choices, seed);
        await workers(run, deaths, {}, (death) => forgotten[death] ?? false);
        expect(faultsOf(run)).toEqual([]);
      }),
      { numRuns: 3000, seed: 21 },
    );
  });

  it('neither loses nor duplicates rows for any sequence of failures', async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ choices, deaths, seed }) => {
        const run = newModelRun(choices, seed);
        await workers(run, deaths);
        expect(faultsOf(run)).toEqual([]);
      }),
      { numRuns: 3000, seed: 20 },
    );
  });

  it('is not affected by a worker that was paused at any step while another finished everything', async () => {
    const rehearsal = new Life(-1);
    await work(newModelRun(), rehearsal);
    for (let pausedAt = 0; pausedAt < rehearsal.steps; pausedAt++) {
      const run = newModelRun();
      await work(run, new Life(pausedAt, () => work(run, new Life(-1)))).catch((error: unknown) => {
        if (!isRetryable(error)) throw error;
      });
      expect(faultsOf(run), `paused at step ${pausedAt}`).toEqual([]);
      expect(run.bus.offset).toBe(RECORDS);
    }
  });

  it('is not affected by a worker that lost its partition while paused, even if every token is forgotten', async () => {
    const rehearsal = new Life(-1);
    await work(newModelRun(), rehearsal);
    for (let pausedAt = 0; pausedAt < rehearsal.steps; pausedAt++) {
      const run = newModelRun();
      const time = { ms: 0 };
      const sleep = async () => {
        time.ms += HELD_FOR_MS;
        await work(run, new Life(-1));
        run.server.forget();
      };
      await work(run, new Life(pausedAt, sleep), {}, time).catch((error: unknown) => {
        if (!isRetryable(error)) throw error;
      });
      expect(faultsOf(run), `paused at step ${pausedAt}`).toEqual([]);
      expect(run.bus.offset).toBe(RECORDS);
    }
  });
});

describe('a rebuild', () => {
  /** A run whose server has some of the rows, with these tokens, and whose bus begins again. */
  function restored(kept: readonly boolean[], choices: readonly number[], seed: number): ModelRun {
    const run = newModelRun(choices, seed);
    let row = 0;
    for (const [name, rows] of rowsOf(0, RECORDS - 1)) {
      run.server.tables.get(name)?.rows.push(...rows.filter(() => kept[row++ % kept.length]));
    }
    run.bus.storedBefore = RECORDS;
    return run;
  }
  const keeps = fc.array(fc.boolean(), { minLength: 1, maxLength: 80 });

  it('neither loses nor duplicates rows, whichever are stored and for any sequence of failures', async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(keeps, story), async ([kept, { choices, deaths, seed }]) => {
        const run = restored(kept, choices, seed);
        await workers(run, deaths);
        expect(rowFaultsOf(run)).toEqual([]);
        expect(run.bus).toMatchObject({ offset: RECORDS, intent: undefined });
      }),
      { numRuns: 3000, seed: 22 },
    );
  });

  it('sends nothing of a batch that is complete', async () => {
    const run = restored([true], [], 1);
    let inserts = 0;
    run.server.insert = () => {
      inserts += 1;
    };
    await workers(run, []);
    expect(inserts).toBe(0);
    expect(rowFaultsOf(run)).toEqual([]);
  });

  it('needs to know that rows may be stored', async () => {
    const faults = await Promise.all(
      [RECORDS, 0].map(async (storedBefore) => {
        const run = restored([true, true, false], [], 1);
        run.bus.storedBefore = storedBefore;
        await workers(run, []);
        return rowFaultsOf(run).length > 0;
      }),
    );
    expect(faults).toEqual([false, true]);
  });
});

describe('an error of ClickHouse', () => {
  /** Writes one batch while the first inserts and counts fail with these errors; returns the number of failures. */
  async function write(errors: readonly Error[]): Promise<{ run: ModelRun; failed: number }> {
    const run = newModelRun();
    const life = new Life(-1);
    const model = storeFor(run.server, life, {}, () => 0);
    let failed = 0;
    const fail = async () => {
      const error = errors[failed];
      if (!error) return;
      failed += 1;
      throw error;
    };
    const store: BlockStore = {
      ...model,
      insert: (block, request) => fail().then(() => model.insert(block, request)),
      countPositions: (table, range, signal) => fail().then(() => model.countPositions(table, range, signal)),
    };
    const clock = { nowMs: () => 0, elapsedMs: () => 0, nowMicros: () => 0, sleep: async () => run.server.tick() };
    const options = { shards: [], tables: TABLES, transforms: '1', clock, random: () => 0 };
    const partition = partitionFor(run.bus, life, {}, run.decisions);
    const rebuild = async (start: number, end: number) => blocksOf(start, end);
    const open = await new ExactlyOnceWriter(options, [store]).open(partition, { rebuild, signal: never });
    await open.write({ start: 0, end: RECORDS - 1, blocks: blocksOf(0, RECORDS - 1) });
    await open.flush();
    return { run, failed };
  }

  it('is retried for as long as it lasts, unless its code is known to be permanent', async () => {
    const STD_EXCEPTION = 1001;
    const errors = Array.from({ length: 30 }, (_, i) =>
      i < 15 ? new SyntaxError('Unexpected end of JSON input') : new StatementError('no', STD_EXCEPTION),
    );
    const { run, failed } = await write(errors);
    expect(failed).toBe(errors.length);
    expect(faultsOf(run)).toEqual([]);
    expect(run.bus).toMatchObject({ offset: RECORDS, intent: undefined });
  });

  it('stops the writer when it is permanent three times in a row', async () => {
    const ACCESS_DENIED = 497;
    const errors = Array.from({ length: 30 }, () => new StatementError('no grant', ACCESS_DENIED));
    await expect(write(errors)).rejects.toThrow(/ClickHouse refuses the rows .* \(tried 3 times\): no grant/);
  });
});

describe('each protection is needed:', () => {
  /** Whether some run ends with rows lost or duplicated, or with a stopped writer. */
  async function fails(without: Without, window = 100): Promise<boolean> {
    const result = await fc.check(
      fc.asyncProperty(story, async ({ choices, deaths, seed }) => {
        const run = newModelRun(choices, seed, window);
        await workers(run, deaths, without);
        expect(faultsOf(run)).toEqual([]);
      }),
      { numRuns: 3000, seed: 20, endOnFailure: true },
    );
    return result.failed;
  }

  it('without the intent', async () => expect(await fails({ intent: true })).toBe(true));
  it('without reading commits back', async () => expect(await fails({ commitReadBack: true })).toBe(true));
  it('without the token', async () => expect(await fails({ token: true })).toBe(true));
  it('without the read-back', async () => expect(await fails({ readBack: true })).toBe(true));
  it('without a new token for rows that ClickHouse lost', async () =>
    expect(await fails({ newToken: true })).toBe(true));
  it('without feeding materialized views again', async () => expect(await fails({ feedViews: true })).toBe(true));
  it('without waiting for running queries', async () => expect(await fails({ quiesce: true })).toBe(true));

  it('without checking the ownership, when the tokens of a paused worker are forgotten', async () => {
    const outcomes = { with: 0, without: 0 };
    for (const [name, without] of [
      ['with', {}],
      ['without', { ownership: true }],
    ] as const) {
      const rehearsal = new Life(-1);
      await work(newModelRun([], 1, 2), rehearsal);
      for (let pausedAt = 0; pausedAt < rehearsal.steps; pausedAt++) {
        const run = newModelRun([], 1, 2);
        await work(run, new Life(pausedAt, () => work(run, new Life(-1))), without).catch(() => undefined);
        if (faultsOf(run).length > 0) outcomes[name] += 1;
      }
    }
    expect(outcomes.without).toBeGreaterThan(outcomes.with);
  });
});
