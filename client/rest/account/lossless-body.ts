import { SchemaError } from '../../errors/index.js';
import { textOf } from '../../requester.js';
import { type LosslessJson, parseLossless } from '../../wire/index.js';

/**
 * A body with every number exact; undefined when it is no JSON.
 * @throws SchemaError for one that is nested deeper than any answer of the interface
 */
export function parseLosslessBody(bytes: Buffer, where: string): { readonly value: LosslessJson } | undefined {
  const text = textOf(bytes);
  if (text === undefined) return undefined;
  try {
    return { value: parseLossless(text) };
  } catch (error) {
    if (error instanceof RangeError) throw new SchemaError(where, '', 'it is nested too deep to be read');
    return undefined;
  }
}
