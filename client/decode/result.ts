import type { z } from 'zod';
import { JsonNumber } from '../wire/json-number.js';
import { explainIssue, type ValidationIssue } from '../wire/validation-issue.js';

/** An entry of a list or map that does not match the interface; it does not affect the other entries. */
export interface InvalidEntry extends ValidationIssue {
  /** Its index in the list (for a map: in the order of its keys). */
  readonly index: number;
  /** The entry as it was parsed. */
  readonly value: unknown;
}

/** A body that does not match the interface. */
export interface InvalidBody extends ValidationIssue {
  readonly ok: false;
}

/** The fields of a list's wrapper; absent ones are null. */
export interface PageInfo {
  /** Zero-based. */
  readonly page: number | null;
  readonly size: number | null;
  readonly totalPages: number | null;
  readonly totalItems: number | null;
}

/** A decoded list: its items, its invalid entries, and the fields of its wrapper. */
export interface DecodedList<T> {
  readonly ok: true;
  readonly items: readonly T[];
  /** The first 100 invalid entries. */
  readonly invalidEntries: readonly InvalidEntry[];
  /** Number of invalid entries beyond the first 100. */
  readonly invalidEntriesOmitted: number;
  readonly page: PageInfo;
  /** Names of undocumented fields, like `volume24h` or `outcomes.name`, each once, up to 1000. */
  readonly extraFields: readonly string[];
}

export const NO_INVALID_ENTRIES: readonly InvalidEntry[] = Object.freeze([]);

/** Maximum number of stored invalid entries; further ones are only counted, so that they cost little more than parsing. */
const MAX_ENTRIES = 100;

/** Number of invalid entries after which the rest of a list is counted as invalid without validation. */
const MAX_VALIDATED = 10_000;

/** Collects invalid entries: stores the first ones, counts the others. */
export class InvalidEntries {
  readonly #entries: InvalidEntry[] = [];
  #omitted = 0;

  get entries(): readonly InvalidEntry[] {
    return this.#entries;
  }

  get omitted(): number {
    return this.#omitted;
  }

  push(entry: InvalidEntry): void {
    if (!this.countIfFull()) this.#entries.push(entry);
  }

  /**
   * Whether an entry of a list of objects is counted as invalid without validating it, which takes time: when it is not an
   * object and would only be counted, and when the limit of invalid entries is exceeded.
   */
  skips(value: unknown): boolean {
    if (isObject(value) && this.#omitted < MAX_VALIDATED) return false;
    return this.countIfFull();
  }

  /** Counts one more entry if no more are stored; returns whether it did. */
  countIfFull(): boolean {
    if (this.#entries.length < MAX_ENTRIES) return false;
    this.#omitted += 1;
    return true;
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const invalid = (path: string, reason: string): InvalidBody => ({ ok: false, path, reason });

/** The issue that a schema reports for a value that is known to be invalid. */
export function issueOf(schema: z.ZodType, value: unknown, at = ''): ValidationIssue {
  const { error } = schema.safeParse(value);
  return error ? explainIssue(error, value, at) : { path: at, reason: 'is not as expected' };
}

/** The invalid entry for a value that is known to be invalid. */
export function invalidEntry(schema: z.ZodType, value: unknown, index: number, path: string): InvalidEntry {
  return { index, ...issueOf(schema, value, path), value };
}

/** The text of an undocumented field; null for any other type. */
export const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** The number of an undocumented field; null for any other type. */
export function numberOrNull(value: unknown): number | null {
  const plain = value instanceof JsonNumber ? value.text : value;
  const number = typeof plain === 'string' && plain.trim() !== '' ? Number(plain) : plain;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** Maximum number of field names; further ones are dropped. */
const MAX_EXTRA = 1000;

/** Collects the names of fields that a schema does not contain, up to 1000. */
export class ExtraFields {
  readonly #names = new Set<string>();

  add(value: JsonObject, shape: Readonly<Record<string, unknown>>, prefix = ''): void {
    for (const key in value) {
      if (this.#names.size >= MAX_EXTRA) return;
      if (!Object.hasOwn(shape, key)) this.#names.add(prefix + key.slice(0, 80));
    }
  }

  list(): readonly string[] {
    return [...this.#names].sort();
  }
}
