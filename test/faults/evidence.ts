import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../core/index.js';
import type { Rig } from '../pipeline/rig.js';

/** How often the database is queried: the resolution of the times to detect. */
const EVERY_MS = 500;

interface Question {
  readonly id: number;
  readonly sql: string;
  readonly deadline: number;
  readonly resolve: (foundAt: number | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Waits for rows of queries: all of them are sent as one query, twice per second. */
export class Evidence {
  #questions = new Map<number, Question>();
  #nextId = 1;
  #ended = false;
  readonly #loop: Promise<void>;

  constructor(private readonly rig: Rig) {
    this.#loop = this.#run();
  }

  /** Resolves with the time at which the SELECT first had a row, Unix microseconds; undefined when it had none in time. */
  rowsOf(sql: string, withinMs: number): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#questions.set(id, { id, sql, deadline: performance.now() + withinMs, resolve, reject });
    });
  }

  async stop(): Promise<void> {
    this.#ended = true;
    await this.#loop;
    for (const { resolve } of this.#questions.values()) resolve(undefined);
  }

  async #run(): Promise<void> {
    while (!this.#ended) {
      const asked = [...this.#questions.values()];
      const { found, failure } = await this.#ask(asked);
      const now = systemClock.nowMicros();
      for (const { id, deadline, resolve, reject } of asked) {
        if (!found.has(id) && performance.now() < deadline) continue;
        this.#questions.delete(id);
        if (failure === undefined) resolve(found.has(id) ? now : undefined);
        else reject(failure);
      }
      await delay(EVERY_MS);
    }
  }

  async #ask(asked: readonly Question[]): Promise<{ found: Set<number>; failure?: unknown }> {
    if (asked.length === 0) return { found: new Set() };
    const sql = asked.map(({ id, sql: own }) => `SELECT ${id} AS id, count() AS found FROM (${own} LIMIT 1)`);
    try {
      const rows = await this.rig.rows<{ id: number; found: number }>(`SELECT * FROM (${sql.join(' UNION ALL ')})`);
      return { found: new Set(rows.filter(({ found }) => found > 0).map(({ id }) => id)) };
    } catch (failure) {
      // ClickHouse may be down: the next query may find it.
      return { found: new Set(), failure };
    }
  }
}
