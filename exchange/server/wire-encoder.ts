import type { Quirks } from './quirks.js';

/** Keys are IDs rather than field names: quirks that add fields leave it alone, its values excepted. */
export class IdMap {
  constructor(readonly entries: Readonly<Record<string, unknown>>) {}

  toJSON(): unknown {
    return this.entries;
  }
}

/** Turns what is sent into JSON text, with the quirks that change how anything is written. */
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
