import { describe, expect, it } from 'vitest';
import { Subscription } from '../../collectors/streams/subscription.js';

const S = 1_000_000;
const values = (record: Record<string, string>) => new Map(Object.entries(record));

function live(): Subscription {
  const subscription = new Subscription('event', ['a', 'b'], 0);
  subscription.confirm(values({ a: '0.1', b: '0.2' }), 10 * S);
  return subscription;
}

describe('a subscription', () => {
  it('is verified by a statement that is the same', () => {
    const subscription = live();
    subscription.change('a', '0.3', 11 * S);
    expect(subscription.compare(values({ a: '0.3', b: '0.2' }), 12 * S, 0)).toBe('same');
    expect(subscription.verifiedAt).toBe(12 * S);
  });

  it('has a mismatch when the statement differs, until changes bring its values', () => {
    const subscription = live();
    expect(subscription.compare(values({ a: '0.9', b: '0.8' }), 12 * S, 0)).toBe('different');
    expect(subscription.verifiedAt).toBe(10 * S);
    subscription.change('a', '0.9', 12.1 * S);
    expect(subscription.mismatch?.values).toEqual(values({ b: '0.8' }));
    subscription.change('b', '0.7', 12.2 * S);
    expect(subscription.mismatch?.values).toEqual(values({ b: '0.8' }));
    subscription.change('b', '0.8', 12.3 * S);
    expect(subscription.mismatch).toBeUndefined();
    expect(subscription.verifiedAt).toBe(12.3 * S);
  });

  it('is neither verified nor has a mismatch by a statement that may be older than a change', () => {
    const subscription = live();
    subscription.change('a', '0.3', 11 * S);
    expect(subscription.compare(values({ a: '0.1', b: '0.2' }), 12 * S, 3 * S)).toBe('undecided');
    expect(subscription.verifiedAt).toBe(10 * S);
    expect(subscription.mismatch).toBeUndefined();
    expect(subscription.compare(values({ a: '0.1', b: '0.2' }), 15 * S, 3 * S)).toBe('different');
  });

  it('adds markets that were not known', () => {
    const subscription = live();
    expect(subscription.compare(values({ a: '0.1', c: '0.5' }), 12 * S, 0)).toBe('same');
    expect(subscription.knownMarkets).toEqual(['a', 'b', 'c']);
    expect(subscription.compare(values({ c: '0.6' }), 13 * S, 0)).toBe('different');
  });

  it('is not live once it is invalidated, until the next first state', () => {
    const subscription = live();
    subscription.compare(values({ a: '0.9' }), 12 * S, 0);
    subscription.invalidate();
    expect([subscription.live, subscription.mismatch]).toEqual([false, undefined]);
    subscription.confirm(values({ a: '0.9' }), 20 * S);
    expect(subscription.knownMarkets).toEqual(['a']);
  });
});
