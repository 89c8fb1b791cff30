import { expect, test } from 'vitest';
import { certificateOf, certify, MARKET } from './command.js';

test('chancery certify certifies a run with faults and kills: nothing is unexplained', async () => {
  // The plan of this seed has faults of every stream, and kills ClickHouse and the collector.
  const { code, out, err } = await certify('--minutes', '0.6', '--seed', '608', '--json', ...MARKET).ended;
  const certificate = certificateOf(out, err);
  expect(
    certificate.comparisons.flatMap(({ examples }) => examples),
    err,
  ).toEqual([]);
  expect({ code, passed: certificate.passed }).toEqual({ code: 0, passed: true });
  expect(certificate.faults.length).toBeGreaterThan(5);
  expect(certificate.kills.map(({ service }) => service)).toEqual(['clickhouse', 'collect']);
  const expected = new Map(certificate.comparisons.map((one) => [one.name, one.expected]));
  expect(expected.size).toBe(71);
  for (const [name, count] of expected) {
    // Whether a minute or a market ended, two bids added up to more than 1, and a period was without a gap, is by chance; on a busy machine
    // the tolerance for transit is longer than the gaps, so that no whole second of them is compared.
    const byChance = [
      ...['candles of 60 s', 'settlements', 'times of resolutions', 'chance candles', 'missing seconds', 'longshots'],
      'times of arbitrage',
    ];
    if (!byChance.some((one) => name === one || name === `${one}, release`)) expect(count, name).toBeGreaterThan(0);
  }
});
