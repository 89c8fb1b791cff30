import type { FaultRequest } from './faults.js';

/** The kinds of faults that change the content of a message. */
export const ALTERING_KINDS = ['rename-field', 'number-as-text', 'clock-skew'] as const;

/** The text with the change that the fault makes; undefined when it has no such field. */
export function alteredJson(text: string, { kind, field, ms = 0 }: FaultRequest): string | undefined {
  const body: unknown = JSON.parse(text);
  const found = kind === 'clock-skew' ? findField(body, isTime) : findField(body, isNamed(field));
  if (!found) return undefined;
  const { object, key } = found;
  const value = object[key];
  if (kind === 'clock-skew') object[key] = (value as number) + Math.round(ms / 1000);
  else if (kind === 'number-as-text') object[key] = String(value);
  else renameKey(object, key, `${key}Renamed`);
  return JSON.stringify(body);
}

type JsonObject = Record<string, unknown>;
type FieldTest = (key: string, value: unknown) => boolean;

const isNamed =
  (field: string | undefined): FieldTest =>
  (key, value) =>
    field === undefined ? typeof value === 'number' : key === field;

/** The time of a chance point. */
const isTime: FieldTest = (key, value) => key === 't' && typeof value === 'number';

/** The first field, depth first, that passes the test. */
function findField(value: unknown, test: FieldTest): { object: JsonObject; key: string } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    if (!Array.isArray(value) && test(key, item)) return { object: value as JsonObject, key };
    const found = findField(item, test);
    if (found) return found;
  }
  return undefined;
}

/** Keeps the order of the keys. */
function renameKey(object: JsonObject, from: string, to: string): void {
  for (const [key, value] of Object.entries(object)) {
    delete object[key];
    object[key === from ? to : key] = value;
  }
}
