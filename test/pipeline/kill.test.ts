import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../../core/index.js';
import { findEmbedded } from '../../warehouse/index.js';
import { until } from '../support/until.js';
import { compare, type Ledger, readLedger } from './ledger.js';
import { TABLE_ROWS } from './ledger-tables.js';
import { Rig } from './rig.js';

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 10);
const SEED = Number(process.env['KILL_SEED'] ?? 20_251);

/** Rows that show enough. */
const RECORDED = { raw_records: 1000, price_ticks: 500, chance_points: 100, collector_events: 10 };

/** `warehouse` restarts ClickHouse when that is killed; when `warehouse` is killed, ClickHouse exits with it. */
const VICTIMS = ['collect', 'transform', 'warehouse', 'clickhouse'] as const;

interface Kill {
  readonly victim: (typeof VICTIMS)[number];
  /** When it was gone, Unix microseconds. */
  readonly at: number;
}

/** `kill -9` of collector, worker and ClickHouse at random moments; the bus's own records say what must be there. */
describe('after kills at random moments', () => {
  const rig = new Rig();
  const kills: Kill[] = [];
  let expected: Ledger;

  beforeAll(async () => {
    const random = new Random(SEED);
    let left: Kill['victim'][] = [];
    await rig.startExchange({ seed: 11, events: 6, pace: 6 });
    await rig.start('warehouse');
    await rig.start('transform', FREQUENT_BATCHES);
    await rig.start('collect');
    // Before the first kill every event is known, so that a gap of the collector is one of its events.
    await atLeast(rig, { coverage: 6 * 2 });
    for (let round = 0; round < ROUNDS; round++) {
      await delay(300 + random.next() * 1200);
      if (left.length === 0) left = [...VICTIMS];
      const victim = random.pick(left);
      left = left.filter((other) => other !== victim);
      if (victim === 'clickhouse') {
        await killClickHouse(rig);
        continue;
      }
      await rig.service(victim).kill9();
      kills.push({ victim, at: Date.now() * 1000 });
      await delay(random.next() * 300);
      await rig.start(victim, victim === 'transform' ? FREQUENT_BATCHES : []);
    }
    await atLeast(rig, RECORDED);
    expect(await rig.service('collect').stop()).toBe(0);
    await rig.drained();
    expected = await readLedger(rig.bus);
  });
  afterAll(() => rig.close());

  test('every row that the records of the bus become is there once, in every table', async () => {
    for (const [table, sql] of Object.entries(TABLE_ROWS)) {
      const rows = await rig.rows<{ row: string }>(sql);
      const found = compare(
        rows.map(({ row }) => row),
        expected.rows.get(table) ?? new Set(),
      );
      expect(found, table).toMatchObject({ missing: [], duplicate: [], invented: [] });
    }
    for (const [table, rows] of Object.entries(RECORDED)) {
      expect(expected.rows.get(table)?.size, table).toBeGreaterThanOrEqual(rows);
    }
  });

  test('coverage ends with each killed collector, and there is a gap', async () => {
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

/** Waits until each table or view has at least this number of rows. */
async function atLeast(rig: Rig, wanted: Readonly<Record<string, number>>): Promise<void> {
  for (const [table, rows] of Object.entries(wanted)) {
    await until(async () => {
      const found = await rig.value<number>(`SELECT count() FROM ${table}`);
      return found >= rows || `${found} rows of ${table}`;
    });
  }
}

/** Ends ClickHouse alone; resolves when its supervisor has started it again. */
async function killClickHouse(rig: Rig): Promise<void> {
  const { pid } = await rig.clickhouse();
  process.kill(pid, 'SIGKILL');
  await until(async () => {
    const server = await findEmbedded(rig.folder);
    return (server !== undefined && server.pid !== pid) || 'ClickHouse does not run again';
  });
}

const FREQUENT_BATCHES = ['--batch-delay-ms', '20'];
