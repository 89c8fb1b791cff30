import { UsageError } from '../../core/index.js';

/** An ID as one segment of a path. @throws UsageError */
export function segment(name: string, id: string): string {
  if (id === '' || id === '.' || id === '..') throw new UsageError(`${name} is ${JSON.stringify(id)}; give an ID`);
  return encodeURIComponent(id);
}

/** An ID in a query or a body. @throws UsageError */
export function requireId(name: string, id: string): string {
  if (typeof id === 'string' && id !== '') return id;
  throw new UsageError(`${name} is ${JSON.stringify(id)}; give an ID`);
}

/** Unix seconds as the interface wants times: ISO 8601. @throws UsageError */
export function isoTime(name: string, unixSeconds: number): string {
  const date = new Date(unixSeconds * 1000);
  if (Number.isNaN(date.getTime())) throw new UsageError(`${name} is ${unixSeconds}; give a time in Unix seconds`);
  return date.toISOString();
}

/** A whole number from `least` on. @throws UsageError */
export function wholeNumber(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new UsageError(`${name} is ${value}; give a whole number from ${least} on`);
}
