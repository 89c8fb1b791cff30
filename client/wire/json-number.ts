import { parse, stringify } from 'lossless-json';

/** A number of a JSON text, digit for digit, never converted to a double. */
export class JsonNumber {
  constructor(readonly text: string) {}

  /** For messages and dead letters: a number when a double represents it exactly, else its text. */
  toJSON(): number | string {
    const number = Number(this.text);
    return String(number) === this.text ? number : this.text;
  }
}

declare const lossless: unique symbol;

/** A JSON body whose numbers are `JsonNumber`s, as returned by `parseLossless`. */
export type LosslessJson = { readonly [lossless]: true };

/**
 * Parses JSON as `JSON.parse` does, but returns every number as a `JsonNumber`. Of a repeated key the last value counts.
 * @throws SyntaxError for text that is not JSON; RangeError for text that is nested too deeply
 */
export function parseLossless(text: string): LosslessJson {
  return parse(text, null, {
    parseNumber: (number) => new JsonNumber(number),
    onDuplicateKey: ({ newValue }) => newValue,
  }) as LosslessJson;
}

const NUMBERS = [
  { test: (value: unknown) => value instanceof JsonNumber, stringify: (value: unknown) => (value as JsonNumber).text },
];

/** The JSON text of an object, with every `JsonNumber` in it digit for digit. */
export function stringifyLossless(value: Readonly<Record<string, unknown>>): string {
  return stringify(value, null, undefined, NUMBERS) ?? '{}';
}
