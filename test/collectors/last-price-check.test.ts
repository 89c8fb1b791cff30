import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LastPriceCheck } from '../../collectors/streams/last-price-check.js';
import { ManualClock } from '../support/clocks.js';

describe('the comparison of the last price with the chance', () => {
  const clock = new ManualClock();
  let check: LastPriceCheck;
  let reported: string[];

  const pass = (ms: number) => {
    for (let i = 0; i < ms; i += 100) {
      clock.micros += 100_000;
      vi.advanceTimersByTime(100);
    }
  };
  beforeEach(() => {
    vi.useFakeTimers();
    reported = [];
    check = new LastPriceCheck(clock, (eventId) => reported.push(eventId));
    check.onLast('e', 'm', 0.5);
    check.onChance('e', 'm', 0.5);
  });
  afterEach(() => {
    check.stop();
    vi.useRealTimers();
  });

  it.each(['onLast', 'onChance'] as const)(
    'reports a difference of more than 2 s that began with %s, once',
    (method) => {
      check[method]('e', 'm', 0.6);
      pass(1900);
      expect(reported).toEqual([]);
      pass(700);
      expect(reported).toEqual(['e']);
      check[method]('e', 'm', 0.7);
      pass(5000);
      expect(reported).toEqual(['e']);
    },
  );

  it('reports it again after both were equal', () => {
    check.onLast('e', 'm', 0.6);
    pass(3000);
    check.onChance('e', 'm', 0.6);
    check.onLast('e', 'm', 0.5);
    pass(3000);
    expect(reported).toEqual(['e', 'e']);
  });

  it('reports no shorter difference, no market with one price, and no event that was removed', () => {
    check.onLast('e', 'm', 0.6);
    pass(1500);
    check.onChance('e', 'm', 0.6);
    check.onLast('other', 'm', 0.1);
    check.onLast('closed', 'n', 0.1);
    check.onChance('closed', 'n', 0.2);
    check.remove('closed');
    pass(5000);
    expect(reported).toEqual([]);
  });
});
