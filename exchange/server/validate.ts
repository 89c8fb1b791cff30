import type { z } from 'zod';
import { explainIssue } from '../../client/wire/index.js';
import { HttpError } from './errors.js';
import type { RouteRequest } from './routes.js';

/** The body as its schema reads it. @throws HttpError 400 that names the first field that does not fit */
export function validBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const { path, reason } = explainIssue(parsed.error, body);
  throw new HttpError(400, path === '' ? `the body: ${reason}` : `${path}: ${reason}`);
}

/** A whole number of the query. @throws HttpError 400 when it is none or below `min` */
export function wholeNumber(
  query: URLSearchParams,
  name: string,
  { preset, min, max = Number.POSITIVE_INFINITY }: { preset: number; min: number; max?: number },
): number {
  const text = query.get(name);
  if (text === null) return preset;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const range = max === Number.POSITIVE_INFINITY ? `from ${min}` : `from ${min} to ${max}`;
  throw new HttpError(400, `${name} must be a whole number ${range}`);
}

/** A text of the query. @throws HttpError 400 when it is missing */
export function requiredText(query: URLSearchParams, name: string): string {
  const text = query.get(name);
  if (text === null || text === '') throw new HttpError(400, `${name} is required`);
  return text;
}

/** A `:name` of the route's path. */
export function param(request: RouteRequest, name: string): string {
  const value = request.params[name];
  if (value === undefined) throw new Error(`the route has no :${name}`);
  return value;
}
