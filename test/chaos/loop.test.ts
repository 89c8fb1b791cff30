import { describe, expect, it } from 'vitest';
import { describeWithKafka } from '../kafka/index.js';
import { renderFaults, renderReport } from './report.js';
import { type ChaosOptions, runChaos } from './run.js';

const SEED = Number(process.env['CHAOS_SEED'] ?? 20_252);
/** What starting, drawing to a close and comparing may take beyond the time of the chaos itself. */
const AROUND_MS = 420_000;

/** See docs/reliability.md: what is open there keeps the loop out of the ordinary tests. */
const minutes = Number(process.env['CHAOS_MINUTES'] ?? 0);

async function expectNothingLost(options: ChaosOptions): Promise<void> {
  const report = await runChaos(options);
  console.log(renderReport(report));
  const { tally, audit } = report;
  const differences = [...audit.tables, ...audit.states].map(([table, { counts }]) => [table, counts]);
  const none = { missing: 0, doubled: 0, invented: 0 };
  expect(differences, renderFaults(report)).toEqual(differences.map(([table]) => [table, none]));
  expect(audit.lost).toEqual([]);
  // A loop in which nothing happened shows nothing.
  expect(tally.kills).toBeGreaterThan(3);
  expect(audit.acknowledged).toBeGreaterThan(500);
  expect(audit.tables.get('price_ticks')?.expected).toBeGreaterThan(500);
}

describe.runIf(minutes > 0)(
  'kills, pauses and faults at random moments, with workers, collectors and ClickHouse on the embedded log',
  () => {
    it('lose and double nothing', { timeout: AROUND_MS + minutes * 60_000 }, async () => {
      await expectNothingLost({ bus: 'embedded', minutes, seed: SEED });
    });
  },
);

if (minutes > 0) {
  describeWithKafka(
    'kills, pauses and faults at random moments, with the broker too, on Kafka',
    { own: true },
    (kafka) => {
      it('lose and double nothing', { timeout: AROUND_MS + minutes * 60_000 }, async () => {
        await expectNothingLost({ bus: 'kafka', broker: kafka.own, minutes, seed: SEED });
      });
    },
  );
}
