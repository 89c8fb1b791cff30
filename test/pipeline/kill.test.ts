import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Expected, readLedger } from './ledger.js';
import { Rig } from './rig.js';

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 10);
const SEED = Number(process.env['KILL_SEED'] ?? 20_251);

interface Kill {
  readonly victim: 'collect' | 'transform' | 'warehouse' | 'clickhouse';
  /** Unix microseconds. */
  readonly at: number;
}

/** `kill -9` of collector, worker and ClickHouse at random moments; the bus's own records say what must be there. */
describe('after kills at random moments', () => {
  const rig = new Rig();
  const kills: Kill[] = [];
  let expected: Expected;

  beforeAll(async () => {
    const random = randomFrom(SEED);
    await rig.startExchange(['--seed', '11', '--events', '6', '--pace', '6']);
    await rig.start('warehouse');
    await rig.start('transform', FREQUENT_BATCHES);
    await rig.start('collect');
    for (let round = 0; round < ROUNDS; round++) {
      await delay(300 + random() * 1200);
      const victim = (['collect', 'transform', 'warehouse'] as const)[Math.floor(random() * 3)] ?? 'collect';
      kills.push({ victim, at: Date.now() * 1000 });
      await rig.part(victim).kill9();
      await delay(random() * 300);
      await rig.start(victim, victim === 'transform' ? FREQUENT_BATCHES : []);
    }
    await delay(1500);
    expect(await rig.part('collect').stop()).toBe(0);
    await rig.drained();
    expected = await readLedger(rig.bus);
  }, 180_000);
  afterAll(() => rig.close());

  test('every record of the bus is in raw_records once', async () => {
    const rows = await rig.rows<{ place: string }>(
      "SELECT concat(_topic, '/', toString(_partition), '/', toString(_offset)) AS place FROM raw_records",
    );
    expectExactly(
      rows.map((row) => row.place),
      expected.places,
    );
    expect(expected.places.size).toBeGreaterThan(1000);
  });

  test('every price entry is in price_ticks once, with its values', async () => {
    const rows = await rig.rows<{ row: string }>(`
      SELECT concat(toString(_partition), '/', toString(_offset), '/', toString(_index), ' ', market, ' ', toString(last),
        ' ', ifNull(toString(bid), 'null'), ' ', ifNull(toString(ask), 'null'), ' ', toString(source)) AS row
      FROM price_ticks`);
    expectExactly(
      rows.map((row) => row.row),
      expected.ticks,
    );
    expect(expected.ticks.size).toBeGreaterThan(500);
  });

  test('every live chance point is in chance_points once', async () => {
    const rows = await rig.rows<{ row: string }>(`
      SELECT concat(toString(_partition), '/', toString(_offset), ' ', market, ' ', toString(toUnixTimestamp(occurred_at)),
        ' ', toString(chance)) AS row
      FROM chance_points WHERE source IN ('last-known', 'change')`);
    expectExactly(
      rows.map((row) => row.row),
      expected.chances,
    );
  });

  test('coverage ends with each collector that could not say goodbye, and the gap is there', async () => {
    const dead = kills.filter((kill) => kill.victim === 'collect');
    expect(dead.length).toBeGreaterThan(0);
    const sessions = await rig.rows<{ state: string }>('SELECT state FROM sessions');
    expect(sessions.filter((session) => session.state === 'stopped').length).toBe(1);
    expect(sessions.length).toBe(dead.length + 1);
    for (const { at } of dead) {
      const covering = await rig.rows<{ stream: string }>(`
        SELECT stream FROM coverage
        WHERE begins_at <= fromUnixTimestamp64Micro(${at + 20_000}) AND ends_at > fromUnixTimestamp64Micro(${at + 20_000})`);
      expect(covering, 'coverage that claims the time right after the kill').toEqual([]);
      const gaps = await rig.rows<{ stream: string }>(`
        SELECT DISTINCT stream FROM gaps
        WHERE begins_at <= fromUnixTimestamp64Micro(${at}) AND ends_at > fromUnixTimestamp64Micro(${at}) ORDER BY stream`);
      expect(gaps.map((gap) => gap.stream)).toEqual(['chance', 'order-book']);
    }
  });
});

const FREQUENT_BATCHES = ['--batch-delay-ms', '20'];

/** Says what is missing and what is doubled, by name. */
function expectExactly(found: readonly string[], wanted: ReadonlySet<string>): void {
  const counts = new Map<string, number>();
  for (const row of found) counts.set(row, (counts.get(row) ?? 0) + 1);
  const doubled = [...counts].filter(([, count]) => count > 1).map(([row]) => row);
  const missing = [...wanted].filter((row) => !counts.has(row));
  const invented = [...counts.keys()].filter((row) => !wanted.has(row));
  expect({
    missing: missing.slice(0, 5),
    doubled: doubled.slice(0, 5),
    invented: invented.slice(0, 5),
    counts: [missing.length, doubled.length, invented.length],
  }).toEqual({ missing: [], doubled: [], invented: [], counts: [0, 0, 0] });
}

/** mulberry32: the same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
