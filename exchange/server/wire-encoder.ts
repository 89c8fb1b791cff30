import type { Quirks } from './quirks.js';

/** A map whose keys are IDs, not field names: quirks add fields to its values, not to it. */
export class IdMap {
  constructor(readonly entries: Readonly<Record<string, unknown>>) {}

  toJSON(): unknown {
    return this.entries;
  }
}

/** Encodes messages as JSON, with the quirks that change their encoding. */
export class WireEncoder {
  readonly #plain: boolean;

  constructor(private readonly quirks: Pick<Quirks, 'extraFields' | 'numbersAsStrings'>) {
    this.#plain = !quirks.extraFields && !quirks.numbersAsStrings;
  }

  encode(value: unknown): string {
    return JSON.stringify(this.#plain ? value : this.#bend(value));
  }

  #bend(value: unknown): unknown {
    if (typeof value === 'number') return this.quirks.numbersAsStrings ? String(value) : value;
    if (Array.isArray(value)) return value.map((item) => this.#bend(item));
    if (value instanceof IdMap) return this.#bendFields(value.entries);
    if (typeof value !== 'object' || value === null) return value;
    const fields = this.#bendFields(value as Record<string, unknown>);
    return this.quirks.extraFields ? { ...fields, xField: { note: 'undocumented' } } : fields;
  }

  #bendFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, this.#bend(value)]));
  }
}
