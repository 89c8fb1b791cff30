import { describe, expect, it } from 'vitest';
import { planOf, sizeOf } from '../../certify/plan.js';

const HOUR = 3_600_000;

describe('the plan of faults and kills', () => {
  it('is repeated by its seed, and differs for another', () => {
    expect(planOf(7, HOUR)).toEqual(planOf(7, HOUR));
    expect(planOf(7, HOUR)).not.toEqual(planOf(8, HOUR));
  });

  it('is in order of time, within the run, and has every process and many kinds of faults', () => {
    const plan = planOf(7, HOUR);
    const times = plan.map(({ atMs }) => atMs);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBeLessThan(HOUR);
    const kills = plan.flatMap((action) => ('kill' in action ? action.kill : []));
    expect(new Set(kills)).toEqual(new Set(['collect', 'transform', 'clickhouse', 'exchange']));
    const faults = plan.flatMap((action) => ('fault' in action ? `${action.fault.stream} ${action.fault.kind}` : []));
    expect(new Set(faults).size).toBe(31);
    expect(sizeOf(plan).kills).toBe(kills.length);
    // Some are applied more than once.
    expect(sizeOf(plan).faults).toBeGreaterThan(faults.length);
  });

  it('kills the collector also before it can have found out that a stream is stale', () => {
    const delays = Array.from({ length: 200 }, (_, seed) => planOf(seed, 120_000)).flatMap((plan) =>
      plan.flatMap((kill) =>
        'kill' in kill && kill.kill === 'collect'
          ? plan.flatMap((one) => ('fault' in one && one.fault.kind === 'freeze' ? kill.atMs - one.atMs : []))
          : [],
      ),
    );
    expect(delays.filter((delay) => delay > 0 && delay < 20_000).length).toBeGreaterThan(20);
  });
});
