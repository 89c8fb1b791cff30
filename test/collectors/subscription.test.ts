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
  it('is verified by an equal snapshot', () => {
    const subscription = live();
    subscription.change('a', '0.3', 11 * S);
    expect(subscription.compare(values({ a: '0.3', b: '0.2' }), 12 * S, 'interval')).toMatchObject({
      lastEqualAt: 10 * S,
      changes: 1,
      compared: 2,
      changed: 1,
      missed: 0,
    });
    expect(subscription.verifiedAt).toBe(12 * S);
  });

  it('has a pending audit when the snapshot differs, until the next change of each market matches its value', () => {
    const subscription = live();
    const audit = subscription.compare(values({ a: '0.9', b: '0.8' }), 12 * S, 'interval');
    expect(subscription.verifiedAt).toBe(10 * S);
    subscription.change('a', '0.9', 12.1 * S);
    expect([...audit.unequal]).toEqual([['b', { ours: '0.2', theirs: '0.8', overtaken: false }]]);
    subscription.change('b', '0.8', 12.2 * S);
    expect(audit).toMatchObject({ changed: 2, missed: 0, late: 2 });
    expect(subscription.finishAudit()).toBe(audit);
    expect([audit.unequal.size, subscription.pending, subscription.verifiedAt]).toEqual([0, undefined, 12 * S]);
  });

  it('has lost changes when no change matches an unequal snapshot', () => {
    const subscription = live();
    const audit = subscription.compare(values({ a: '0.9', b: '0.2' }), 12 * S, 'interval');
    subscription.change('a', '0.7', 12.2 * S);
    expect(subscription.finishAudit()).toBe(audit);
    expect([...audit.unequal]).toEqual([['a', { ours: '0.1', theirs: '0.9', overtaken: true }]]);
    expect(audit).toMatchObject({ compared: 2, changed: 1, missed: 1, late: 0 });
    expect(subscription.verifiedAt).toBe(10 * S);
  });

  it('has lost a change also when the price returns to that of the snapshot after another one', () => {
    const subscription = live();
    const audit = subscription.compare(values({ a: '0.9', b: '0.2' }), 12 * S, 'interval');
    subscription.change('a', '0.7', 12.2 * S);
    subscription.change('a', '0.9', 12.3 * S);
    subscription.compare(values({ a: '0.1', b: '0.2' }), 12.5 * S, 'unrequested');
    expect([...audit.unequal.keys()]).toEqual(['a']);
    expect(audit).toMatchObject({ missed: 1, late: 0 });
  });

  it('has lost nothing when a second snapshot has the first values again', () => {
    const subscription = live();
    const audit = subscription.compare(values({ a: '0.9', b: '0.2' }), 12 * S, 'interval');
    expect(subscription.compare(values({ a: '0.1', b: '0.2' }), 12.5 * S, 'unrequested').unequal.size).toBe(0);
    expect([audit.unequal.size, audit.missed]).toEqual([0, 0]);
  });

  it('is neither verified nor unequal by a snapshot that may be older than a change', () => {
    const subscription = live();
    subscription.change('a', '0.3', 11 * S);
    const early = subscription.compare(values({ a: '0.1', b: '0.2' }), 12 * S, 'silence', 3 * S);
    expect([early.undecided, early.unequal.size, subscription.pending]).toEqual([1, 0, undefined]);
    expect(subscription.verifiedAt).toBe(10 * S);
    expect(subscription.compare(values({ a: '0.1', b: '0.2' }), 15 * S, 'silence', 3 * S).unequal.size).toBe(1);
  });

  it('is not verified by an audit that explained its differences and could not compare a market', () => {
    const subscription = live();
    subscription.change('b', '0.3', 11 * S);
    const audit = subscription.compare(values({ a: '0.9', b: '0.2' }), 12 * S, 'silence', 3 * S);
    expect([audit.undecided, [...audit.unequal.keys()]]).toEqual([1, ['a']]);
    subscription.change('a', '0.9', 12.5 * S);
    expect(subscription.finishAudit()?.unequal.size).toBe(0);
    expect(subscription.verifiedAt).toBe(10 * S);
  });

  it('adds unknown markets', () => {
    const subscription = live();
    expect(subscription.compare(values({ a: '0.1', c: '0.5' }), 12 * S, 'interval')).toMatchObject({ compared: 1 });
    expect(subscription.knownMarkets).toEqual(['a', 'b', 'c']);
    expect([...subscription.compare(values({ c: '0.6' }), 13 * S, 'interval').unequal.keys()]).toEqual(['c']);
  });

  it('knows which changes equal the value before them on the same connection', () => {
    const subscription = live();
    expect(subscription.change('a', '0.1', 11 * S)).toBe(true);
    expect(subscription.change('a', '0.3', 12 * S)).toBe(false);
    expect(subscription.change('a', '0.3', 12 * S)).toBe(true);
    expect(subscription.change('b', '0.3', 12 * S)).toBe(false);
    expect(subscription.change('c', '0.3', 12 * S)).toBe(false);
    expect(subscription.changes).toBe(3);
    subscription.compare(values({ a: '0.5' }), 13 * S, 'interval');
    expect(subscription.change('a', '0.5', 14 * S)).toBe(true);
    subscription.disconnect();
    expect(subscription.change('a', '0.5', 15 * S)).toBe(false);
  });

  it('counts a change that another audit found as missed in the next audit of the interval, once', () => {
    const subscription = live();
    subscription.compare(values({ a: '0.9', b: '0.2' }), 12 * S, 'difference');
    subscription.finishAudit();
    subscription.request(13 * S);
    subscription.confirm(values({ a: '0.9', b: '0.2' }), 14 * S);
    const counts = { compared: 2, changed: 1, missed: 1 };
    expect(subscription.compare(values({ a: '0.9', b: '0.2' }), 40 * S, 'interval')).toMatchObject(counts);
    const none = { compared: 2, changed: 0, missed: 0 };
    expect(subscription.compare(values({ a: '0.9', b: '0.2' }), 70 * S, 'interval')).toMatchObject(none);
  });

  it('does not count it when a later change was received', () => {
    const subscription = live();
    subscription.compare(values({ a: '0.9', b: '0.2' }), 12 * S, 'difference');
    subscription.finishAudit();
    subscription.change('a', '0.4', 20 * S);
    const counts = { changed: 1, missed: 0 };
    expect(subscription.compare(values({ a: '0.4', b: '0.2' }), 40 * S, 'interval')).toMatchObject(counts);
  });

  it('does not count changes of the time in which it was not subscribed', () => {
    const subscription = live();
    subscription.change('a', '0.3', 11 * S);
    subscription.request(13 * S);
    subscription.confirm(values({ a: '0.6', b: '0.2' }), 14 * S);
    const counts = { compared: 2, changed: 0, missed: 0 };
    expect(subscription.compare(values({ a: '0.6', b: '0.2' }), 40 * S, 'interval')).toMatchObject(counts);
  });

  it('is not live once it is invalidated, until the next initial snapshot', () => {
    const subscription = live();
    subscription.compare(values({ a: '0.9' }), 12 * S, 'interval');
    subscription.invalidate();
    expect([subscription.live, subscription.pending]).toEqual([false, undefined]);
    subscription.confirm(values({ a: '0.9' }), 20 * S);
    expect(subscription.knownMarkets).toEqual(['a']);
  });
});
