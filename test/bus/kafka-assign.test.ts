import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assign, type Candidate } from '../../bus/kafka/group/assign.js';
import {
  type Assignment,
  decodeAssignment,
  decodeSubscription,
  encodeAssignment,
  encodeSubscription,
} from '../../bus/kafka/group/subscription.js';

const partitionsOf = (assignment: Assignment | undefined) =>
  [...(assignment ?? [])].flatMap(([topic, partitions]) => partitions.map((p) => `${topic}/${p}`));

/** Members as they join; their partitions come from earlier generations, so no two hold the same one. */
const group = fc
  .record({
    members: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 }),
    partitions: fc.dictionary(fc.constantFrom('t', 'u', 'v'), fc.integer({ min: 1, max: 12 }), { minKeys: 1 }),
    holders: fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'nobody'), { minLength: 36, maxLength: 36 }),
  })
  .map(({ members, partitions, holders }) => {
    const topics = Object.keys(partitions);
    const owned = (member: string) =>
      new Map(
        topics.map((topic, t) => [
          topic,
          Array.from({ length: partitions[topic] ?? 0 }, (_, p) => p).filter((p) => holders[t * 12 + p] === member),
        ]),
      );
    const candidates: Candidate[] = members.map((member) => ({ member, topics, owned: owned(member), generation: 7 }));
    return { candidates, partitions: new Map(Object.entries(partitions)) };
  });

describe('the assignment of partitions', () => {
  it('assigns no partition to a member while another holds it, and assigns every free one', () => {
    fc.assert(
      fc.property(group, ({ candidates, partitions }) => {
        const given = assign(candidates, partitions);
        const all = [...given.values()].flatMap(partitionsOf);
        expect(new Set(all).size).toBe(all.length);
        const held = new Map(
          candidates.flatMap((c) => partitionsOf(c.owned).map((partition) => [partition, c.member] as const)),
        );
        for (const [member, assignment] of given) {
          for (const partition of partitionsOf(assignment)) expect(held.get(partition) ?? member).toBe(member);
        }
        for (const [topic, count] of partitions) {
          for (let p = 0; p < count; p++) {
            if (!held.has(`${topic}/${p}`)) expect(all).toContain(`${topic}/${p}`);
          }
        }
      }),
      { seed: 1 },
    );
  });

  it('is even and complete in the next generation, in which no member loses a partition', () => {
    fc.assert(
      fc.property(group, ({ candidates, partitions }) => {
        const first = assign(candidates, partitions);
        const again = candidates.map((c) => ({ ...c, owned: first.get(c.member) ?? new Map(), generation: 8 }));
        const second = assign(again, partitions);
        for (const [member, assignment] of first) {
          expect(partitionsOf(second.get(member))).toEqual(expect.arrayContaining(partitionsOf(assignment)));
        }
        for (const [topic, count] of partitions) {
          const sizes = candidates.map(({ member }) => second.get(member)?.get(topic)?.length ?? 0);
          expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(count);
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        }
      }),
      { seed: 2 },
    );
  });

  it('moves no partition when the assignment is even', () => {
    fc.assert(
      fc.property(group, ({ candidates, partitions }) => {
        let given = assign(candidates, partitions);
        for (let round = 0; round < 2; round++) {
          const owned = given;
          given = assign(
            candidates.map((c) => ({ ...c, owned: owned.get(c.member) ?? new Map() })),
            partitions,
          );
        }
        const balanced = given;
        const after = assign(
          candidates.map((c) => ({ ...c, owned: balanced.get(c.member) ?? new Map() })).reverse(),
          partitions,
        );
        for (const { member } of candidates) {
          expect(partitionsOf(after.get(member)).sort()).toEqual(partitionsOf(balanced.get(member)).sort());
        }
      }),
      { seed: 3 },
    );
  });

  it('trusts the later generation when two members claim the same partition, and neither within one generation', () => {
    const owned = new Map([['t', [0]]]);
    const one = { member: 'a', topics: ['t'], owned, generation: 4 };
    const two = { member: 'b', topics: ['t'], owned, generation: 5 };
    const partitions = new Map([['t', 1]]);
    expect(partitionsOf(assign([one, two], partitions).get('b'))).toEqual(['t/0']);
    const same = assign([one, { ...two, generation: 4 }], partitions);
    expect([...same.values()].flatMap(partitionsOf)).toEqual([]);
  });

  it('assigns topics to subscribed members only', () => {
    const members = [
      { member: 'a', topics: ['t'], owned: new Map(), generation: -1 },
      { member: 'b', topics: ['u'], owned: new Map(), generation: -1 },
    ];
    const given = assign(
      members,
      new Map([
        ['t', 2],
        ['u', 1],
      ]),
    );
    expect(partitionsOf(given.get('a'))).toEqual(['t/0', 't/1']);
    expect(partitionsOf(given.get('b'))).toEqual(['u/0']);
  });

  it('is encoded and decoded without loss', () => {
    const assignment = new Map([
      ['chancery.order-book', [0, 3, 17]],
      ['ünï', []],
    ]);
    const subscription = { topics: ['chancery.order-book', 'ünï'], owned: assignment, generation: 12 };
    expect(decodeSubscription(encodeSubscription(subscription))).toEqual(subscription);
    expect(decodeAssignment(encodeAssignment(assignment))).toEqual(assignment);
    expect(decodeAssignment(Buffer.alloc(0))).toEqual(new Map());
  });
});
