import type { Cluster } from '../cluster.js';
import { ERROR } from '../protocol/error-codes.js';
import type { JoinResponse } from '../protocol/group.js';
import { assign } from './assign.js';
import { decodeSubscription, encodeAssignment } from './subscription.js';

/** A member's work as group leader: it assigns partitions and watches the topics for changes. */
export class GroupLeader {
  /** Identity and number of partitions of each assigned topic; undefined while another member leads. */
  #assigned: ReadonlyMap<string, string> | undefined;
  #checkedAt = 0;

  /** @param everyMs how often it checks whether topics changed, milliseconds */
  constructor(
    private readonly cluster: Cluster,
    private readonly everyMs: number,
  ) {}

  /** Assigns the partitions of all subscribed topics. */
  async assign(joined: JoinResponse['members']): Promise<{ member: string; assignment: Buffer }[]> {
    const members = joined.map(({ member, subscription }) => ({ member, ...decodeSubscription(subscription) }));
    const wanted = [...new Set(members.flatMap((m) => m.topics))];
    const { topics } = await this.cluster.metadata(wanted);
    const existing = topics.filter((t) => t.error === ERROR.none);
    this.#assigned = new Map(wanted.map((name) => [name, shapeOf(existing.find((t) => t.name === name))]));
    this.#checkedAt = performance.now();
    const shares = assign(members, new Map(existing.map((t) => [t.name, t.leaders.length])));
    return [...shares].map(([member, assignment]) => ({ member, assignment: encodeAssignment(assignment) }));
  }

  /** Another member leads now. */
  end(): void {
    this.#assigned = undefined;
  }

  /** Whether a topic was created, deleted, created again or extended; checks at most once every `everyMs`. */
  async topicsChanged(): Promise<boolean> {
    const assigned = this.#assigned;
    if (!assigned || performance.now() - this.#checkedAt < this.everyMs) return false;
    this.#checkedAt = performance.now();
    const { topics } = await this.cluster.metadata([...assigned.keys()]);
    const existing = topics.filter((t) => t.error === ERROR.none);
    return [...assigned].some(([name, shape]) => shapeOf(existing.find((t) => t.name === name)) !== shape);
  }
}

const shapeOf = (topic: { id: string; leaders: readonly number[] } | undefined): string =>
  topic ? `${topic.id}:${topic.leaders.length}` : '';
