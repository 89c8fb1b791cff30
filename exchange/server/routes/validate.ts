import { z } from 'zod';
import { explainIssue } from '../../../client/wire/index.js';
import { HttpError } from '../errors.js';
import type { RouteRequest } from '../route.js';

/** Parses the body with its schema. @throws HttpError 400 with the first invalid field */
export function validBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const { path, reason } = explainIssue(parsed.error, body);
  throw new HttpError(400, path === '' ? `the body: ${reason}` : `${path}: ${reason}`);
}

/** A whole number of the query. @throws HttpError 400 when it is invalid or below `min` */
export function wholeNumber(
  query: URLSearchParams,
  name: string,
  { preset, min, max = Number.POSITIVE_INFINITY }: { preset: number; min: number; max?: number },
): number {
  const text = query.get(name);
  if (text === null) return preset;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value) && value >= min && value <= max) return value;
  const range = max === Number.POSITIVE_INFINITY ? `from ${min}` : `from ${min} to ${max}`;
  throw new HttpError(400, `${name} must be a whole number ${range}`);
}

/** A text of the query. @throws HttpError 400 when it is missing */
export function requiredText(query: URLSearchParams, name: string): string {
  const text = query.get(name);
  if (text === null || text === '') throw new HttpError(400, `${name} is required and not empty`);
  return text;
}

/** An enumerated parameter of the query; undefined when missing. @throws HttpError 400 for another value */
export function oneOf<T extends string>(query: URLSearchParams, name: string, words: readonly T[]): T | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const word = words.find((known) => known === text);
  if (word === undefined) throw new HttpError(400, `${name} must be one of ${words.join(', ')}`);
  return word;
}

/** A text of the query; undefined when missing. @throws HttpError 400 when it is empty */
export function optionalText(query: URLSearchParams, name: string): string | undefined {
  return query.has(name) ? requiredText(query, name) : undefined;
}

/** A text of a body that error messages never quote. */
export const secretText = z.custom<string>(
  (value) => typeof value === 'string' && value !== '',
  'expected a text that is not empty',
);

/** A `:name` of the route's path. */
export function param(request: RouteRequest, name: string): string {
  const value = request.params[name];
  if (value === undefined) throw new Error(`the route has no :${name}`);
  return value;
}
