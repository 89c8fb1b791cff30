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

/** Unix seconds as ISO 8601, the interface's format. @throws UsageError */
export function isoTime(name: string, unixSeconds: number): string {
  const date = new Date(unixSeconds * 1000);
  if (Number.isNaN(date.getTime())) throw new UsageError(`${name} is ${unixSeconds}; give a time in Unix seconds`);
  return date.toISOString();
}

/** A whole number, at least `min`. @throws UsageError */
export function wholeNumber(name: string, value: number, min: number): number {
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new UsageError(`${name} is ${value}; give a whole number, at least ${min}`);
}
