import { SchemaError } from '../../errors/index.js';
import { textOf } from '../../requester.js';
import { type LosslessJson, parseLossless } from '../../wire/index.js';

/**
 * A body parsed with every number exact; undefined when it is not JSON.
 * @throws SchemaError for a body that is nested too deeply to parse
 */
export function parseLosslessBody(bytes: Buffer, operation: string): { readonly value: LosslessJson } | undefined {
  const text = textOf(bytes);
  if (text === undefined) return undefined;
  try {
    return { value: parseLossless(text) };
  } catch (error) {
    if (error instanceof RangeError) throw new SchemaError(operation, '', 'it is nested too deeply to be parsed');
    return undefined;
  }
}
