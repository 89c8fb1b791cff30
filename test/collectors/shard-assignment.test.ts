import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ShardAssignment } from '../../collectors/shard-assignment.js';

const events = Array.from({ length: 3000 }, () => randomUUID());
const ownersAmong = (n: number) => {
  const shares = Array.from({ length: n }, (_, i) => new ShardAssignment(`${i}/${n}`));
  return events.map((event) => shares.flatMap((share, i) => (share.ownsEvent(event) ? [i] : [])));
};

describe('the work of several collectors', () => {
  it('is assigned by event, each to exactly one of them, and about as many to each', () => {
    for (const n of [1, 2, 5]) {
      const owners = ownersAmong(n);
      expect(owners.every((own) => own.length === 1)).toBe(true);
      for (let i = 0; i < n; i++) {
        const share = owners.filter(([owner]) => owner === i).length / events.length;
        expect(Math.abs(share - 1 / n)).toBeLessThan(0.05);
      }
    }
  });

  it('moves only to a collector that is added, and only from one that is removed', () => {
    const [three, four] = [ownersAmong(3), ownersAmong(4)];
    const moved = events.filter((_, i) => three[i]?.[0] !== four[i]?.[0]);
    const taken = events.filter((_, i) => four[i]?.[0] === 3);
    expect(moved).toEqual(taken);
    expect(moved.length / events.length).toBeLessThan(0.3);
  });
});
