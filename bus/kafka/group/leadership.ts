import type { Cluster } from '../cluster.js';
import { ERROR } from '../protocol/error-codes.js';
import type { JoinAnswer } from '../protocol/group.js';
import { assign } from './assign.js';
import { decodeSubscription, encodeAssignment } from './subscription.js';

/** What a member does while it leads its group: it divides the partitions, and watches the topics. */
export class Leadership {
  /** Identity and number of partitions of each topic that was divided; undefined while somebody else leads. */
  #divided: ReadonlyMap<string, string> | undefined;
  #seenAt = 0;

  /** @param everyMs how often it looks whether topics changed, milliseconds */
  constructor(
    private readonly cluster: Cluster,
    private readonly everyMs: number,
  ) {}

  /** Divides the partitions of all topics that somebody wants. */
  async divide(joined: JoinAnswer['members']): Promise<{ member: string; assignment: Buffer }[]> {
    const members = joined.map(({ member, subscription }) => ({ member, ...decodeSubscription(subscription) }));
    const wanted = [...new Set(members.flatMap((m) => m.topics))];
    const { topics } = await this.cluster.metadata(wanted);
    const existing = topics.filter((t) => t.error === ERROR.none);
    this.#divided = new Map(wanted.map((name) => [name, shapeOf(existing.find((t) => t.name === name))]));
    this.#seenAt = performance.now();
    const shares = assign(members, new Map(existing.map((t) => [t.name, t.leaders.length])));
    return [...shares].map(([member, assignment]) => ({ member, assignment: encodeAssignment(assignment) }));
  }

  /** Somebody else leads now. */
  end(): void {
    this.#divided = undefined;
  }

  /** From time to time: whether a topic was created, removed, made anew, or given more partitions. */
  async topicsChanged(): Promise<boolean> {
    const divided = this.#divided;
    if (!divided || performance.now() - this.#seenAt < this.everyMs) return false;
    this.#seenAt = performance.now();
    const { topics } = await this.cluster.metadata([...divided.keys()]);
    const existing = topics.filter((t) => t.error === ERROR.none);
    return [...divided].some(([name, shape]) => shapeOf(existing.find((t) => t.name === name)) !== shape);
  }
}

const shapeOf = (topic: { id: string; leaders: readonly number[] } | undefined): string =>
  topic ? `${topic.id}:${topic.leaders.length}` : '';
