import { parse, stringify } from 'lossless-json';

/** A number of a JSON text, digit for digit as it was written: it never was a double. */
export class JsonNumber {
  constructor(readonly text: string) {}

  /** For people and dead letters: the number where a double says the same, else its text. */
  toJSON(): number | string {
    const number = Number(this.text);
    return String(number) === this.text ? number : this.text;
  }
}

declare const lossless: unique symbol;

/** A JSON body whose numbers are `JsonNumber`s. Made by `parseLossless` alone. */
export type LosslessJson = { readonly [lossless]: true };

/**
 * Parses JSON as `JSON.parse` does, but keeps every number as a `JsonNumber`. Of a key given twice the last one counts.
 * @throws SyntaxError for text that is not JSON; RangeError for one that is nested absurdly deep
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
