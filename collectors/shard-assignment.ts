import { createHash } from 'node:crypto';

/**
 * Assigns work to one of N collectors by rendezvous hashing: each task goes to the collector with the highest score for
 * it, so adding or removing a collector moves no tasks between the others.
 */
export class ShardAssignment {
  readonly #index: number;
  readonly #count: number;

  /** @param shard `I/N`, I from 0 */
  constructor(readonly shard: string) {
    const [index = '0', count = '1'] = shard.split('/');
    this.#index = Number(index);
    this.#count = Number(count);
  }

  ownsEvent(eventId: string): boolean {
    return this.owns(`event:${eventId}`);
  }

  /** @param work unique name of a task */
  owns(work: string): boolean {
    const own = score(work, this.#index);
    for (let other = 0; other < this.#count; other++) {
      if (other === this.#index) continue;
      const theirs = score(work, other);
      if (theirs > own || (theirs === own && other > this.#index)) return false;
    }
    return true;
  }
}

function score(work: string, shard: number): bigint {
  return createHash('sha256').update(`${shard} ${work}`).digest().readBigUInt64BE();
}
