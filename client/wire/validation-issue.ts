import type { z } from 'zod';
import { JsonNumber } from './json-number.js';

/** What is wrong with something received: where, and one line that says what was expected and what came. */
export interface ValidationIssue {
  /** Like `content[3].outcomes[1].yesId`; empty for the body itself. */
  readonly path: string;
  readonly reason: string;
}

const SHOWN = 40;

/** A value in a few words, without walking into it: `string "0.5"`, `object`, `nothing`. */
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

const shorten = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

/**
 * The first thing a schema found wrong, in our words (the ones that the hand-written validators use too).
 * @param root the value that was checked
 * @param at where that value sits in what was received
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

/** `expected a string, got number 5`: the one form of a wrong type. */
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
