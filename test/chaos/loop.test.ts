import { describe, expect, it } from 'vitest';
import { describeWithKafka } from '../kafka/index.js';
import { isClean, renderFaults, renderReport } from './report.js';
import { type ChaosOptions, runChaos } from './run.js';

const SEED = Number(process.env['CHAOS_SEED'] ?? 20_252);
/** Time for starting, finishing and comparing, in addition to the chaos itself. */
const AROUND_MS = 900_000;

const minutes = (inCi: number): number =>
  Number(process.env['CHAOS_MINUTES'] ?? (process.env['CI'] === 'true' ? inCi : 0.5));

async function expectNothingLost(options: ChaosOptions): Promise<void> {
  const report = await runChaos(options).catch((error: Error) => {
    // Immediately, so that it is printed even if the suite is stopped early.
    console.error(error.message);
    throw error;
  });
  console.log(renderReport(report));
  if (!isClean(report)) console.error(renderFaults(report));
  const { tally, audit } = report;
  const differences = [...audit.tables, ...audit.states].map(([table, { counts }]) => [table, counts]);
  const none = { missing: 0, duplicate: 0, invented: 0 };
  expect(differences, renderFaults(report)).toEqual(differences.map(([table]) => [table, none]));
  expect(audit.lost).toEqual([]);
  expect(audit.withoutAnswer).toEqual([]);
  // A loop without kills shows nothing.
  expect(tally.kills).toBeGreaterThan(3);
  expect(audit.acknowledged).toBeGreaterThan(500);
  expect(audit.pieces).toBeGreaterThan(50);
  expect(audit.tables.get('trade_records')?.expected).toBeGreaterThan(50);
  expect(audit.tables.get('price_ticks')?.expected).toBeGreaterThan(500);
  if (options.asksViews === false) return;
  for (const table of ['price_hours', 'price_days', 'volume_days', 'position_states', 'own_volumes']) {
    expect(audit.states.get(table)?.expected, table).toBeGreaterThan(10);
  }
}

describe('kills, pauses and faults at random moments, with workers, collectors and ClickHouse on the embedded log', () => {
  const chaos = minutes(0.3);
  it('neither lose nor duplicate rows', { timeout: AROUND_MS + chaos * 60_000 }, async () => {
    await expectNothingLost({ bus: 'embedded', minutes: chaos, seed: SEED });
  });
});

describeWithKafka(
  'kills, pauses and faults at random moments, with the broker too, on Kafka',
  { own: true },
  (kafka) => {
    // Long enough for each kind of event once: the logs are replaced after 25 s.
    const chaos = minutes(0.5);
    it('neither lose nor duplicate rows', { timeout: AROUND_MS + chaos * 60_000 }, async () => {
      await expectNothingLost({ bus: 'kafka', broker: kafka.own, minutes: chaos, seed: SEED, asksViews: false });
    });
  },
);
