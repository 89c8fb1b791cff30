import type { Assignment, Subscription } from './subscription.js';

export interface Candidate extends Subscription {
  readonly member: string;
}

/**
 * A cooperative assignor: divides each topic's partitions evenly, moves as few as possible, and alternates from topic to
 * topic which members get one more. A partition that moves away from an active member stays unassigned in this generation:
 * its holder sees the revocation, releases the partition and rejoins, and the next generation assigns it. So a partition
 * never has two holders, and the others are consumed without interruption.
 * @param partitions number of partitions by topic; topics that do not exist are absent
 */
export function assign(
  members: readonly Candidate[],
  partitions: ReadonlyMap<string, number>,
): Map<string, Assignment> {
  const assignments = new Map(members.map(({ member }) => [member, new Map<string, number[]>()]));
  const load = new Map(members.map(({ member }) => [member, 0]));
  for (const topic of [...partitions.keys()].sort()) {
    const subscribed = members.filter((m) => m.topics.includes(topic));
    const shares = assignTopic(topic, partitions.get(topic) ?? 0, subscribed, load);
    for (const [member, share] of shares) {
      if (share.length > 0) assignments.get(member)?.set(topic, share);
      load.set(member, (load.get(member) ?? 0) + share.length);
    }
  }
  return assignments;
}

function assignTopic(
  topic: string,
  count: number,
  members: readonly Candidate[],
  load: ReadonlyMap<string, number>,
): Map<string, number[]> {
  const holders = holdersOf(topic, count, members);
  const held = (member: string) => [...holders].filter(([, holder]) => holder === member).map(([p]) => p);
  const ranked = members
    .map(({ member }) => ({ member, held: held(member).sort((a, b) => a - b) }))
    .sort(
      (a, b) =>
        b.held.length - a.held.length ||
        (load.get(a.member) ?? 0) - (load.get(b.member) ?? 0) ||
        (a.member < b.member ? -1 : 1),
    );
  const minimum = Math.floor(count / members.length);
  const withOneMore = count % members.length;
  const shares = new Map<string, number[]>();
  const quotas: { share: number[]; quota: number }[] = [];
  for (const [rank, { member, held }] of ranked.entries()) {
    const quota = minimum + (rank < withOneMore ? 1 : 0);
    const share = held.slice(0, quota);
    shares.set(member, share);
    quotas.push({ share, quota });
  }
  for (let p = 0; p < count; p++) {
    if (holders.has(p)) continue;
    quotas.find(({ share, quota }) => share.length < quota)?.share.push(p);
  }
  return shares;
}

/** The holder of each partition. Of two members that claim it, the later generation wins; in the same generation, neither. */
function holdersOf(topic: string, count: number, members: readonly Candidate[]): Map<number, string | undefined> {
  const claims = new Map<number, { generation: number; member: string | undefined }>();
  for (const { member, generation, owned } of members) {
    for (const p of owned.get(topic) ?? []) {
      const other = claims.get(p);
      if (p >= count || (other && other.generation > generation)) continue;
      claims.set(p, { generation, member: other?.generation === generation ? undefined : member });
    }
  }
  return new Map([...claims].map(([p, { member }]) => [p, member]));
}
