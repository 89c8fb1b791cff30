import { expected } from '../../wire/validation-issue.js';
import { type InvalidBody, invalid, type JsonObject } from '../result.js';
import { isRecord } from './records.js';

/** Messages common to both private streams, parts 6.3, 6.4 and 7.3. */
export type StreamControl =
  /** The response to AUTH. */
  | { readonly type: 'authorized' }
  | { readonly type: 'ping' }
  | { readonly type: 'error'; readonly reason: string }
  | { readonly type: 'unknown'; readonly wireType: string };

type Envelope =
  | StreamControl
  | (InvalidBody & { readonly type: 'invalid' })
  | { readonly type: 'open'; readonly t: string | null };

/** Decodes the envelope; `open` when the message depends on the stream. */
export function readEnvelope({ t, d, r }: JsonObject): Envelope {
  if (t !== undefined && t !== null && typeof t !== 'string') return bad('t', expected('a string', t));
  if (r !== undefined && r !== null && typeof r !== 'string') return bad('r', expected('a string', r));
  if (t === 'error' || t === 'ERROR') return { type: 'error', reason: r || errorTextOf(d) };
  if (r) return { type: 'error', reason: r };
  return t === 'PING' ? { type: 'ping' } : { type: 'open', t: t ?? null };
}

function errorTextOf(d: unknown): string {
  const text = isRecord(d) ? (d['error'] ?? d['message']) : d;
  return typeof text === 'string' ? text : '';
}

const bad = (path: string, reason: string) => ({ type: 'invalid' as const, ...invalid(path, reason) });
