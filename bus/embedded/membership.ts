import { randomUUID } from 'node:crypto';
import { isAlive } from '../../core/index.js';
import type { ChangeSignal } from './signal.js';
import type { GroupKey, Store } from './store.js';
import { refKey, type Topic } from './topics.js';

export interface TopicPartition {
  readonly topic: Topic;
  readonly partition: number;
}

/** A partition that this member owns; the epoch fences its former owners. */
export interface Claim extends TopicPartition {
  readonly key: GroupKey;
  readonly epoch: number;
}

/**
 * One consumer's membership in its group: it is registered with the identity of its process and owns partitions by
 * claims in the store. Claims of a process that has ended can be taken over immediately, those of a running one only after
 * it has released them. All members of a group run on one machine and see the same process IDs.
 */
export class Membership {
  readonly #id = randomUUID();
  readonly #own = new Map<string, Claim>();

  constructor(
    private readonly store: Store,
    private readonly changed: ChangeSignal,
    private readonly group: string,
    private readonly topics: readonly Topic[],
  ) {}

  async join(): Promise<void> {
    const row = { process: this.store.identity, topics: this.topics.map((t) => t.name) };
    await this.store.write('join a group', () => [this.store.members.put([this.group, this.#id], row)]);
    this.changed.notify();
  }

  async leave(): Promise<void> {
    await this.store.write('leave a group', () => [this.store.members.remove([this.group, this.#id])]);
    this.changed.notify();
  }

  /** Claims partitions up to this member's share; returns the new claims and the surplus ones. */
  async balance(): Promise<{ gained: Claim[]; surplus: Claim[] }> {
    this.store.refresh();
    const gained: Claim[] = [];
    const surplus: Claim[] = [];
    const members = await this.#livingMembers();
    for (const topic of this.topics) {
      const owned = [...this.#own.values()].filter((claim) => claim.topic.name === topic.name);
      const share = shareOf(this.#id, members, topic);
      surplus.push(...owned.slice(share));
      for (let p = 0, missing = share - owned.length; missing > 0 && p < topic.partitions; p++) {
        const claim = await this.#claim({ topic, partition: p });
        if (!claim) continue;
        gained.push(claim);
        missing--;
      }
    }
    return { gained, surplus };
  }

  async release(claim: Claim): Promise<void> {
    this.#own.delete(String(claim.key));
    const { claims } = this.store;
    await this.store.write('release a partition', () => [
      claims.ifVersion(claim.key, claim.epoch, () => {
        claims.put(claim.key, { member: null }, claim.epoch + 1);
      }),
    ]);
    this.changed.notify();
  }

  /** Whether the claim still has this member's epoch in the store. */
  holds(claim: Claim): boolean {
    this.store.refresh();
    return this.store.claims.getEntry(claim.key)?.version === claim.epoch;
  }

  async #livingMembers(): Promise<{ id: string; topics: readonly string[] }[]> {
    const { members } = this.store;
    const living: { id: string; topics: readonly string[] }[] = [];
    for (const { key, value } of [...members.getRange({ start: [this.group, ''], end: [this.group, '\uffff'] })]) {
      const [, id] = key;
      if (id === this.#id || isAlive(value.process)) living.push({ id, topics: value.topics });
      else await this.store.write('remove a dead consumer', () => [members.remove(key)]);
    }
    return living.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** A member is registered before its first claim and removed after it released its last. */
  #lives(member: string): boolean {
    const row = this.store.members.get([this.group, member]);
    return row !== undefined && isAlive(row.process);
  }

  /** Claims the partition if it is free or its owner is dead. */
  async #claim(at: TopicPartition): Promise<Claim | undefined> {
    const { claims } = this.store;
    const key: GroupKey = [this.group, ...refKey(at)];
    if (this.#own.has(String(key))) return undefined;
    this.store.refresh();
    const current = claims.getEntry(key);
    if (current?.value.member && this.#lives(current.value.member)) return undefined;
    const epoch = (current?.version ?? 0) + 1;
    const put = () => void claims.put(key, { member: this.#id }, epoch);
    const [held] = await this.store.write('claim a partition', () => [
      current ? claims.ifVersion(key, epoch - 1, put) : claims.ifNoExists(key, put),
    ]);
    if (!held) return undefined;
    const claim = { ...at, key, epoch };
    this.#own.set(String(key), claim);
    return claim;
  }
}

/** A member's even share of the topic's partitions. The members with one more alternate from topic to topic. */
function shareOf(id: string, members: readonly { id: string; topics: readonly string[] }[], topic: Topic): number {
  const those = members.filter((m) => m.topics.includes(topic.name));
  const rank = those.findIndex((m) => m.id === id);
  const n = those.length;
  if (rank < 0) return 0;
  return Math.floor(topic.partitions / n) + ((rank + topic.id) % n < topic.partitions % n ? 1 : 0);
}
