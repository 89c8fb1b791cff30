import type { FastifyRequest } from 'fastify';
import type { FaultScope, Faults } from './faults.js';

/** The fault `stale-rest`: the first answer to a request since the fault was armed is repeated to equal requests. */
export class StaleAnswers {
  #answers = new Map<string, string>();

  constructor(private readonly faults: Faults) {
    faults.onArmed(({ kind }) => {
      if (kind === 'stale-rest') this.#answers.clear();
    });
  }

  /** The payload that is sent instead of the given one. */
  replace(request: FastifyRequest, payload: string, scope: FaultScope): string {
    const { method, url, userId, body } = request;
    const isRead = method === 'GET' || url.startsWith('/api/events/search');
    const fault = isRead ? this.faults.find('stale-rest', scope) : undefined;
    if (!fault) return payload;
    const key = JSON.stringify([method, url, userId, body]);
    const stale = this.#answers.get(key);
    if (stale === undefined) this.#answers.set(key, payload);
    else this.faults.use(fault, scope);
    return stale ?? payload;
  }
}
