import { JsonNumber } from '../../client/index.js';

/**
 * The first characters of a parsed value's JSON: up to `most`, or fewer when it is nested more than 500 deep. A number
 * that was kept as text is that text; of one beyond the range of doubles that was not, parsing lost the digits: it is
 * told as `Infinity` or `-Infinity`, which no JSON holds.
 * @param most UTF-16 units
 * @returns `whole` when nothing was cut
 */
export function jsonPrefix(value: unknown, most: number): { readonly text: string; readonly whole: boolean } {
  const writer = new PrefixWriter(most);
  writer.write(value);
  return { text: writer.text.slice(0, most), whole: writer.text.length <= most && !writer.tooDeep };
}

/** Far below what the call stack holds. */
const MOST_DEPTH = 500;

class PrefixWriter {
  text = '';
  tooDeep = false;
  #depth = 0;

  constructor(private readonly most: number) {}

  get #full(): boolean {
    return this.tooDeep || this.text.length > this.most;
  }

  write(value: unknown): void {
    if (typeof value === 'string') this.#string(value);
    else if (value instanceof JsonNumber) this.text += value.text.slice(0, this.most);
    else if (typeof value === 'object' && value !== null) this.#nested(value);
    else this.text += String(value);
  }

  #nested(value: object): void {
    this.#depth += 1;
    if (this.#depth > MOST_DEPTH) this.tooDeep = true;
    else if (Array.isArray(value)) this.#array(value);
    else this.#object(value);
    this.#depth -= 1;
  }

  #string(value: string): void {
    // Every character is written as one or more, so that no more of them are needed.
    this.text += JSON.stringify(value.length > this.most ? value.slice(0, this.most) : value);
  }

  #array(value: readonly unknown[]): void {
    this.text += '[';
    for (let i = 0; i < value.length && !this.#full; i++) {
      if (i > 0) this.text += ',';
      this.write(value[i]);
    }
    if (!this.#full) this.text += ']';
  }

  #object(value: object): void {
    this.text += '{';
    let first = true;
    for (const name in value) {
      if (this.#full) return;
      if (!first) this.text += ',';
      first = false;
      this.#string(name);
      this.text += ':';
      this.write((value as Readonly<Record<string, unknown>>)[name]);
    }
    if (!this.#full) this.text += '}';
  }
}
