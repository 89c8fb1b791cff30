import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { type AuditedRun, simulateRun } from './lossy-stream.js';
import { time, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

const RUNS = 200;

interface Estimate {
  readonly begins_at: string;
  readonly samples: number;
  readonly lost_samples: number;
  readonly rate: number;
  readonly lower: number;
  readonly upper: number;
}

const audit = (seconds: number, fields: object) => ({
  audited_at: time(seconds),
  last_equal_at: time(seconds - 30),
  stream: 'order-book',
  event: 'e',
  reason: 'interval',
  compared: 500,
  ...fields,
});

beforeAll(() => {
  data = new WarehouseData(host.database);
});

describe('feed_loss_estimate', () => {
  it('has the Wilson bounds of the audits of changed markets, per hour', async () => {
    await data.insert('audits', [
      audit(0, { changes: 900, changed: 400, missed: 8, mismatches: 8 }),
      audit(30, { changes: 100, changed: 100, missed: 2, mismatches: 1 }),
      // Made because of a suspicion: such an audit finds more than its share.
      audit(40, { changes: 10, changed: 5, missed: 5, mismatches: 5, reason: 'difference' }),
      audit(3600, { changes: 50, changed: 50, missed: 0 }),
      audit(7200, { changes: 0, changed: 0, missed: 0 }),
    ]);
    expect(
      await data.ask(
        `SELECT stream, begins_at, samples, lost_samples, rate, round(lower, 6) AS lower, round(upper, 6) AS upper, changes,
           round(estimated_lost, 3) AS lost FROM feed_loss_estimate ORDER BY begins_at`,
      ),
    ).toEqual([
      {
        stream: 'order-book',
        begins_at: '2026-01-05 12:00:00.000000',
        samples: 500,
        lost_samples: 10,
        rate: 0.02,
        lower: 0.010899,
        upper: 0.03642,
        changes: 1010,
        lost: 20.612,
      },
      {
        stream: 'order-book',
        begins_at: '2026-01-05 13:00:00.000000',
        samples: 50,
        lost_samples: 0,
        rate: 0,
        lower: 0,
        upper: 0.071348,
        changes: 50,
        lost: 0,
      },
    ]);
  });

  it(`contains the true rate in 90 to 99 % of ${RUNS} simulated hours`, async () => {
    const firstHour = Date.UTC(2025, 2, 1) / 3_600_000;
    const runs = new Map<string, AuditedRun>();
    for (let seed = 0; seed < RUNS; seed++) {
      const run = simulateRun(seed, (firstHour + seed) * 3_600_000);
      runs.set(run.beginsAt, run);
      await data.insert('audits', run.rows);
    }
    const estimates = await data.ask<Estimate>(
      `SELECT begins_at, samples, lost_samples, rate, lower, upper FROM feed_loss_estimate
       WHERE begins_at >= '2025-03-01 00:00:00' AND begins_at < '2026-01-01 00:00:00'`,
    );
    expect(estimates).toHaveLength(RUNS);
    const rateOf = ({ begins_at }: Estimate) => runs.get(begins_at)?.lossRate ?? Number.NaN;
    const right = estimates.filter(
      (estimate) => estimate.lower <= rateOf(estimate) && rateOf(estimate) <= estimate.upper,
    );
    expect(right.length / RUNS).toBeGreaterThanOrEqual(0.9);
    expect(right.length / RUNS).toBeLessThanOrEqual(0.99);
    // Both kinds of audits found losses, and the mean error has no direction.
    const all = [...runs.values()].flatMap(({ rows }) => rows);
    for (const reason of ['interval', 'difference']) {
      expect(all.filter((row) => row.reason === reason && row.mismatches > 0).length, reason).toBeGreaterThan(1000);
    }
    const found = estimates.reduce((sum, { lost_samples }) => sum + lost_samples, 0);
    const expected = estimates.reduce((sum, estimate) => sum + estimate.samples * rateOf(estimate), 0);
    expect(found / expected).toBeGreaterThan(0.97);
    expect(found / expected).toBeLessThan(1.03);
  });
});
