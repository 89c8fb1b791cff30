import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRetryable, Random } from '../../../core/index.js';
import { type Batch, ExactlyOnceWriter } from '../../../warehouse/index.js';
import {
  blocksOf,
  Crashed,
  Fate,
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

interface World {
  readonly bus: ModelBus;
  readonly server: ModelServer;
  readonly fate: Fate;
  readonly random: Random;
}

function newWorld(choices: readonly number[] = [], seed = 1, window = 100): World {
  const fate = new Fate(choices);
  return { bus: new ModelBus(), server: new ModelServer(fate, window), fate, random: new Random(seed) };
}

/** One run of a worker: takes over, then writes batches of random sizes until all records are done or it dies. */
async function work(world: World, life: Life, without: Without = {}, time = { ms: 0 }): Promise<void> {
  const { bus, server, fate, random } = world;
  const clock = {
    nowMs: () => time.ms,
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
  const partition = partitionFor(bus, life, without, fate);
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
 * Workers follow each other, each dying at the given step, until one comes through.
 * @param forgets whether the server has forgotten its tokens when the next one comes
 */
async function workers(
  world: World,
  deaths: readonly number[],
  without: Without = {},
  forgets: (death: number) => boolean = () => false,
): Promise<void> {
  for (let i = 0; i < deaths.length + 50; i++) {
    if (i > 0 && forgets(i - 1)) world.server.forget();
    try {
      await work(world, new Life(deaths[i] ?? -1), without);
      return;
    } catch (error) {
      if (!(error instanceof Crashed) && !isRetryable(error)) throw error;
    }
  }
  throw new Error('no worker came through');
}

/** Compares the stored rows with the expected ones; returns the differences. */
function faultsOf({ server }: World): string[] {
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
    if (positions.size < there.length) faults.push(`${name}: ${there.length - positions.size} rows are doubled`);
  }
  const counted = [...server.viewCounts.values()].reduce((sum, rows) => sum + rows, 0);
  if (counted !== expected.get('ticks')?.length) faults.push(`the view counted ${counted} ticks`);
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
    const world = newWorld();
    await workers(world, []);
    expect(faultsOf(world)).toEqual([]);
    expect(world.bus).toMatchObject({ offset: RECORDS, intent: undefined });
  });

  it('survives the death of the worker before and after every single step', async () => {
    const life = new Life(-1);
    await work(newWorld(), life);
    expect(life.steps).toBeGreaterThan(50);
    for (let diesAt = 0; diesAt < life.steps; diesAt++) {
      const world = newWorld();
      await workers(world, [diesAt]);
      expect(faultsOf(world), `died at step ${diesAt}`).toEqual([]);
    }
  });

  it('survives the death of the worker at every step of a recovery', async () => {
    const first = 60;
    const recovery = new Life(-1);
    const rehearsal = newWorld();
    await work(rehearsal, new Life(first)).catch(() => undefined);
    await work(rehearsal, recovery);
    for (let diesAt = 0; diesAt < recovery.steps; diesAt++) {
      const world = newWorld();
      await workers(world, [first, diesAt]);
      expect(faultsOf(world), `died at step ${diesAt} of the recovery`).toEqual([]);
    }
  });

  it('survives a death at any step that is recovered after the deduplication window has passed', async () => {
    const life = new Life(-1);
    await work(newWorld(), life);
    for (let diesAt = 0; diesAt < life.steps; diesAt++) {
      const world = newWorld();
      await workers(world, [diesAt], {}, () => true);
      expect(faultsOf(world), `died at step ${diesAt}`).toEqual([]);
    }
  });

  it('neither loses nor doubles rows, whatever fails in whatever order, with forgotten tokens', async () => {
    const forgetful = fc.tuple(story, fc.array(fc.boolean(), { maxLength: 12 }));
    await fc.assert(
      fc.asyncProperty(forgetful, async ([{ choices, deaths, seed }, forgotten]) => {
        const world = newWorld(choices, seed);
        await workers(world, deaths, {}, (death) => forgotten[death] ?? false);
        expect(faultsOf(world)).toEqual([]);
      }),
      { numRuns: 3000, seed: 21 },
    );
  });

  it('neither loses nor doubles rows, whatever fails in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ choices, deaths, seed }) => {
        const world = newWorld(choices, seed);
        await workers(world, deaths);
        expect(faultsOf(world)).toEqual([]);
      }),
      { numRuns: 3000, seed: 20 },
    );
  });

  it('is not affected by a worker that was paused at any step while another finished everything', async () => {
    const rehearsal = new Life(-1);
    await work(newWorld(), rehearsal);
    for (let pausedAt = 0; pausedAt < rehearsal.steps; pausedAt++) {
      const world = newWorld();
      await work(world, new Life(pausedAt, () => work(world, new Life(-1)))).catch((error: unknown) => {
        if (!isRetryable(error)) throw error;
      });
      expect(faultsOf(world), `paused at step ${pausedAt}`).toEqual([]);
      expect(world.bus.offset).toBe(RECORDS);
    }
  });

  it('is not affected by a worker that lost its partition while paused, even if every token is forgotten', async () => {
    const rehearsal = new Life(-1);
    await work(newWorld(), rehearsal);
    for (let pausedAt = 0; pausedAt < rehearsal.steps; pausedAt++) {
      const world = newWorld();
      const time = { ms: 0 };
      const sleep = async () => {
        time.ms += HELD_FOR_MS;
        await work(world, new Life(-1));
        world.server.forget();
      };
      await work(world, new Life(pausedAt, sleep), {}, time).catch((error: unknown) => {
        if (!isRetryable(error)) throw error;
      });
      expect(faultsOf(world), `paused at step ${pausedAt}`).toEqual([]);
      expect(world.bus.offset).toBe(RECORDS);
    }
  });
});

describe('each protection is needed:', () => {
  /** Whether some run ends with rows lost or doubled, or with a stopped writer. */
  async function fails(without: Without, window = 100): Promise<boolean> {
    const result = await fc.check(
      fc.asyncProperty(story, async ({ choices, deaths, seed }) => {
        const world = newWorld(choices, seed, window);
        await workers(world, deaths, without);
        expect(faultsOf(world)).toEqual([]);
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
      await work(newWorld([], 1, 2), rehearsal);
      for (let pausedAt = 0; pausedAt < rehearsal.steps; pausedAt++) {
        const world = newWorld([], 1, 2);
        await work(world, new Life(pausedAt, () => work(world, new Life(-1))), without).catch(() => undefined);
        if (faultsOf(world).length > 0) outcomes[name] += 1;
      }
    }
    expect(outcomes.without).toBeGreaterThan(outcomes.with);
  });
});
