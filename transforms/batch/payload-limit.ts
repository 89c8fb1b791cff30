import type { DeadLetter } from '../record/record-output.js';

/** Number of dead letters of one reason in a batch that have a payload. */
const MAX_PAYLOADS_PER_REASON = 1000;
/** Further reasons share one count. */
const MAX_REASONS = 1000;
const MAX_REASON_LENGTH = 200;

/**
 * Limits the payloads of a batch's dead letters: when the exchange changes a field, every record is invalid for the same
 * reason. The result depends on the batch's records alone, so a batch that is built again has the same rows.
 */
export class PayloadLimit {
  readonly #counts = new Map<string, number>();

  /** The dead letters of one record; those above the limit without their payload. */
  apply(letters: readonly DeadLetter[]): { readonly letters: readonly DeadLetter[]; readonly omitted: number } {
    let omitted = 0;
    const limited = letters.map((letter) => {
      if (this.#admit(letter.reason)) return letter;
      omitted += 1;
      return { ...letter, payload: '' };
    });
    return { letters: limited, omitted };
  }

  clear(): void {
    this.#counts.clear();
  }

  #admit(reason: string): boolean {
    // Quoted values and numbers differ from record to record.
    const name = reason.replace(/"(?:[^"\\]|\\.)*"|\d+/g, '…').slice(0, MAX_REASON_LENGTH);
    const key = this.#counts.has(name) || this.#counts.size < MAX_REASONS ? name : '';
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count <= MAX_PAYLOADS_PER_REASON;
  }
}
