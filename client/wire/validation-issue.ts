import type { z } from 'zod';
import { JsonNumber } from './json-number.js';

/** Why received data is invalid: the position, and one line with what was expected and what was received. */
export interface ValidationIssue {
  /** Like `content[3].outcomes[1].yesId`; empty for the body itself. */
  readonly path: string;
  readonly reason: string;
}

const MAX_SHOWN_LENGTH = 40;

/** A short description of a value, without its contents: `string "0.5"`, `an object`, `nothing`. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (value instanceof JsonNumber) return `number ${shorten(value.text)}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return `string ${JSON.stringify(shorten(value))}`;
  return `${typeof value} ${String(value)}`;
}

/** Appends a key to a path: `a` + `b` → `a.b`, + 3 → `a[3]`, + `x-y` → `a["x-y"]`. */
export function joinJsonPath(path: string, key: PropertyKey): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  const name = String(key);
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return path === '' ? name : `${path}.${name}`;
  return `${path}[${JSON.stringify(shorten(name))}]`;
}

const shorten = (text: string): string =>
  text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;

/**
 * The first issue of a schema, with the messages of the hand-written validators.
 * @param root the value that was validated
 * @param at the path of that value in the received body
 */
export function explainIssue(error: z.ZodError, root: unknown, at = ''): ValidationIssue {
  const issue = error.issues[0];
  if (!issue) return { path: at, reason: 'is not as expected' };
  let path = at;
  let value: unknown = root;
  for (const key of issue.path) {
    path = joinJsonPath(path, key);
    value = typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined;
  }
  return { path, reason: reasonOf(issue, value) };
}

/** The message for a wrong type: `expected a string, got number 5`. */
export function expected(what: string, value: unknown): string {
  return `expected ${what}, got ${describeValue(value)}`;
}

function reasonOf(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return expected(NAMES[issue.expected] ?? issue.expected, value);
    case 'too_small':
      return issue.origin === 'string'
        ? expected('a text that is not empty', value)
        : expected(`at least ${issue.minimum}`, value);
    case 'too_big':
      return expected(`at most ${issue.maximum}`, value);
    case 'invalid_value':
      return expected(`one of ${issue.values.map(String).join(', ')}`, value);
    default:
      return issue.message;
  }
}

const NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
};
