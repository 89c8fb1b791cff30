import type { z } from 'zod';
import { JsonNumber } from '../wire/json-number.js';
import { explainIssue, type ValidationIssue } from '../wire/validation-issue.js';

/** One entry of a list or map that could not be understood; the entries around it are not affected. */
export interface InvalidEntry extends ValidationIssue {
  /** Its index in the list (for a map: in the order of its keys). */
  readonly index: number;
  /** The entry as it was parsed. */
  readonly value: unknown;
}

/** Something that could not be understood as a whole. */
export interface InvalidBody extends ValidationIssue {
  readonly ok: false;
}

/** What a list's wrapper says about the list; null where it says nothing. */
export interface PageInfo {
  /** Zero-based. */
  readonly page: number | null;
  readonly size: number | null;
  readonly totalPages: number | null;
  readonly totalItems: number | null;
}

/** A list: what was understood, what was not, and what the wrapper says. */
export interface DecodedList<T> {
  readonly ok: true;
  readonly items: readonly T[];
  /** The first 100 of what was not understood. */
  readonly invalidEntries: readonly InvalidEntry[];
  /** How many more were not understood. */
  readonly invalidEntriesOmitted: number;
  readonly page: PageInfo;
  /** Names of fields that the interface does not show, like `volume24h` or `outcomes.name`, each once, up to 1000. */
  readonly extraFields: readonly string[];
}

export const NO_INVALID_ENTRIES: readonly InvalidEntry[] = Object.freeze([]);

/** Further invalid entries of a body are only counted, so that they do not cost much more than parsing. */
const MAX_ENTRIES = 100;

/** After so many invalid entries the rest of a list is not validated but counted as invalid. */
const MAX_VALIDATED = 10_000;

/** Collects invalid entries: the first ones as they are, the others by their number. */
export class InvalidEntries {
  readonly #entries: InvalidEntry[] = [];
  #beyond = 0;

  get entries(): readonly InvalidEntry[] {
    return this.#entries;
  }

  get beyond(): number {
    return this.#beyond;
  }

  push(entry: InvalidEntry): void {
    if (!this.countIfFull()) this.#entries.push(entry);
  }

  /**
   * Whether an entry of a list of objects is counted as invalid without validating it, which takes time: when it is not an
   * object and would only be counted, and when so many were invalid that the rest is not validated.
   */
  skips(value: unknown): boolean {
    if (isObject(value) && this.#beyond < MAX_VALIDATED) return false;
    return this.countIfFull();
  }

  /** Counts one more if it would only be counted; answers whether it did. */
  countIfFull(): boolean {
    if (this.#entries.length < MAX_ENTRIES) return false;
    this.#beyond += 1;
    return true;
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const invalid = (path: string, reason: string): InvalidBody => ({ ok: false, path, reason });

/** What a schema finds wrong with a value that is known to be wrong. */
export function issueOf(schema: z.ZodType, value: unknown, at = ''): ValidationIssue {
  const { error } = schema.safeParse(value);
  return error ? explainIssue(error, value, at) : { path: at, reason: 'is not as expected' };
}

/** The invalid entry for a value that is known to be wrong. */
export function invalidEntry(schema: z.ZodType, value: unknown, index: number, path: string): InvalidEntry {
  return { index, ...issueOf(schema, value, path), value };
}

/** The text of an undocumented field, null when it is something else. */
export const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** The number of an undocumented field, null when it is something else. */
export function numberOrNull(value: unknown): number | null {
  const plain = value instanceof JsonNumber ? value.text : value;
  const number = typeof plain === 'string' && plain.trim() !== '' ? Number(plain) : plain;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** Further names of fields are dropped. */
const MAX_EXTRA = 1000;

/** Collects names of fields that a schema does not name, up to 1000. */
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
