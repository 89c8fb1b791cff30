import { createHash } from 'node:crypto';

/**
 * The share of the work that one of N collectors does, by rendezvous hashing: every piece of work belongs to the
 * collector with the highest score for it, so a collector more or less moves no work between the others.
 */
export class Share {
  readonly #own: number;
  readonly #of: number;

  /** @param shard `I/N`, I from 0 */
  constructor(readonly shard: string) {
    const [own = '0', of = '1'] = shard.split('/');
    this.#own = Number(own);
    this.#of = Number(of);
  }

  ownsEvent(eventId: string): boolean {
    return this.owns(`event:${eventId}`);
  }

  /** @param work names one piece of work among all */
  owns(work: string): boolean {
    const own = score(work, this.#own);
    for (let other = 0; other < this.#of; other++) {
      if (other === this.#own) continue;
      const theirs = score(work, other);
      if (theirs > own || (theirs === own && other > this.#own)) return false;
    }
    return true;
  }
}

function score(work: string, shard: number): bigint {
  return createHash('sha256').update(`${shard} ${work}`).digest().readBigUInt64BE();
}
