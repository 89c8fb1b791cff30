import type { z } from 'zod';
import { JsonNumber, type LosslessJson } from '../../wire/json-number.js';
import { expected, explainIssue } from '../../wire/validation-issue.js';
import { decodeList, type ListSink, NO_PAGE } from '../list.js';
import {
  type DecodedList,
  ExtraFields,
  type InvalidBody,
  type InvalidEntry,
  invalid,
  isObject,
  type JsonObject,
  NO_INVALID_ENTRIES,
} from '../result.js';

/** Whether a value of a `parseLossless` body is an object; numbers are objects too there. */
export const isRecord = (value: unknown): value is JsonObject => isObject(value) && !(value instanceof JsonNumber);

/** Parses a value with its schema; returns the value or an invalid entry. */
export function readRecord<W>(
  value: unknown,
  index: number,
  path: string,
  schema: z.ZodType<W>,
): { readonly ok: true; readonly wire: W } | { readonly ok: false; readonly invalidEntry: InvalidEntry } {
  if (!isRecord(value))
    return { ok: false, invalidEntry: { index, path, reason: expected('an object', value), value } };
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, wire: parsed.data };
  return { ok: false, invalidEntry: { index, ...explainIssue(parsed.error, value, path), value } };
}

type RecordSchema<W> = z.ZodType<W> & { readonly shape: Readonly<Record<string, unknown>> };

/** Decodes every record of a list in any wrapper. An invalid record does not affect the others. */
export function decodeRecords<W extends JsonObject, T>(
  body: LosslessJson,
  schema: RecordSchema<W>,
  read: (wire: W, position: { readonly index: number; readonly path: string; readonly sink: ListSink<T> }) => T,
): DecodedList<T> | InvalidBody {
  return decodeList<T>(body, (value, index, path, sink) => {
    const record = readRecord(value, index, path, schema);
    if (!record.ok) {
      sink.invalid.push(record.invalidEntry);
      return;
    }
    sink.extra.add(record.wire, schema.shape);
    sink.items.push(read(record.wire, { index, path, sink }));
  });
}

/** Decodes a body with one record, as a list of one. */
export function decodeRecord<W extends JsonObject, T>(
  body: LosslessJson,
  schema: RecordSchema<W>,
  read: (wire: W) => T,
): DecodedList<T> | InvalidBody {
  const record = readRecord(body, 0, '', schema);
  if (!record.ok) return invalid(record.invalidEntry.path, record.invalidEntry.reason);
  const extra = new ExtraFields();
  extra.add(record.wire, schema.shape);
  return {
    ok: true,
    items: [read(record.wire)],
    invalidEntries: NO_INVALID_ENTRIES,
    invalidEntriesOmitted: 0,
    page: NO_PAGE,
    extraFields: extra.list(),
  };
}
