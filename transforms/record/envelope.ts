import { isUtf8 } from 'node:buffer';
import { describeValue, type ValidationIssue } from '../../client/index.js';
import {
  type EnvelopeJson,
  type JsonMember,
  jsonExcess,
  jsonMembers,
  type RawRecord,
  RECORD_KINDS,
  type RecordKind,
  recordOf,
} from '../../core/index.js';

/** A record with a valid envelope. */
export interface Envelope {
  readonly ok: true;
  readonly record: RawRecord;
  /**
   * Why its body cannot be transformed: the kind is unknown or belongs to another topic, or the body exceeds the parsing
   * limits (then the record's body is null).
   */
  readonly bodyFault: ValidationIssue | undefined;
  /** Byte ranges of `req` and `body` in the record. */
  readonly members: ReadonlyMap<string, JsonMember>;
}

/** A record with an invalid envelope, with its valid fields. */
export interface BrokenEnvelope extends ValidationIssue {
  readonly ok: false;
  readonly kind: string;
  readonly sessionId: string;
  readonly sequence: number | null;
  /** Unix microseconds. */
  readonly receivedAt: number | null;
}

/** The JSON text of a member of the envelope, in its record's value; empty without it. */
export function memberText({ members }: Envelope, name: string, value: Buffer): string {
  const range = members.get(name);
  return range ? value.toString('utf8', range.start, range.end) : '';
}

/** Receive times outside the years 2000 to 2099 are invalid. */
export const FIRST_RECEIVED_AT = Date.UTC(2000, 0, 1) * 1000;
export const END_RECEIVED_AT = Date.UTC(2100, 0, 1) * 1000;

const MAX_TEXT_LENGTH = 128;
const MAX_PIECES = 65_535;
/** Maximum number of fields that are read; an envelope has far fewer. */
const MAX_FIELDS = 64;

/** Parses a record's value. Never throws. */
export function readEnvelope(value: Buffer, topic: string): Envelope | BrokenEnvelope {
  if (!isUtf8(value)) return broken({}, '', 'the record is not UTF-8');
  const excess = excessOf(value);
  let parsed: unknown;
  try {
    parsed = JSON.parse(excess.parseable?.toString('utf8') ?? '');
  } catch {
    return broken({}, '', `the record ${excess.reason ?? 'is not JSON'}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return broken({}, '', `expected an envelope, got ${describeValue(parsed)}`);
  }
  const fields = parsed as Readonly<Record<string, unknown>>;
  const fault = faultOf(fields) ?? pieceFault(fields);
  if (fault) return broken(fields, fault.path, fault.reason);
  const record = recordOf(parsed as EnvelopeJson);
  const bodyFault = excess.reason
    ? { path: 'body', reason: `the received body ${excess.reason}` }
    : kindFault(record.kind, topic);
  return { ok: true, record, bodyFault, members: jsonMembers(value) };
}

/** The part of a record that may be parsed: all of it, or, with a reason, all but the body (replaced by null), or nothing. */
function excessOf(value: Buffer): { readonly parseable?: Buffer; readonly reason?: string } {
  const reason = jsonExcess(value);
  if (reason === undefined) return { parseable: value };
  let body: JsonMember | undefined;
  try {
    body = jsonMembers(value, MAX_FIELDS).get('body');
  } catch {
    // It is not JSON.
  }
  if (!body) return { reason };
  const { start, end } = body;
  const rest = Buffer.concat([value.subarray(0, start), Buffer.from('null'), value.subarray(end)]);
  if (jsonExcess(rest) !== undefined) return { reason };
  // The limit is that of bodies: a body at the limit exceeds it together with its envelope.
  return jsonExcess(value, start, end) === undefined ? { parseable: value } : { parseable: rest, reason };
}

function faultOf(fields: Readonly<Record<string, unknown>>): ValidationIssue | undefined {
  const { v, kind, sid, n, at, req, enc } = fields;
  if (v !== 1) return wrong('v', 'version 1', v);
  if (typeof kind !== 'string' || kind.length > MAX_TEXT_LENGTH) return wrong('kind', 'a record kind', kind);
  if (typeof sid !== 'string' || sid === '' || sid.length > MAX_TEXT_LENGTH) return wrong('sid', 'a session ID', sid);
  if (!isCount(n) || n < 1) return wrong('n', 'a whole number from 1', n);
  if (!isCount(at) || at < FIRST_RECEIVED_AT || at >= END_RECEIVED_AT) {
    return wrong('at', 'Unix microseconds of the years 2000 to 2099', at);
  }
  if (typeof req !== 'object' || req === null || Array.isArray(req)) return wrong('req', 'an object', req);
  if (enc !== undefined && enc !== 'text' && enc !== 'base64') return wrong('enc', 'text or base64', enc);
  if (!Object.hasOwn(fields, 'body')) return wrong('body', 'the received body', undefined);
  if (enc !== undefined && typeof fields['body'] !== 'string') return wrong('body', 'a string', fields['body']);
  return undefined;
}

function kindFault(kind: string, topic: string): ValidationIssue | undefined {
  if (!Object.hasOwn(RECORD_KINDS, kind)) return { path: 'kind', reason: `unknown record kind ${kind}` };
  if (RECORD_KINDS[kind as RecordKind] === topic) return undefined;
  return { path: 'kind', reason: `${kind} does not belong to the topic ${topic}` };
}

function pieceFault(fields: Readonly<Record<string, unknown>>): ValidationIssue | undefined {
  const piece = fields['piece'] as { readonly i?: unknown; readonly of?: unknown } | null | undefined;
  if (piece === undefined) return undefined;
  if (piece === null || typeof piece !== 'object') return wrong('piece', 'an object', piece);
  const { i, of } = piece;
  if (!isCount(of) || of < 1 || of > MAX_PIECES) return wrong('piece.of', `a whole number from 1 to ${MAX_PIECES}`, of);
  if (!isCount(i) || i >= of) return wrong('piece.i', `a whole number from 0 to ${of - 1}`, i);
  if (typeof fields['body'] !== 'string') return wrong('body', 'a string', fields['body']);
  return undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function wrong(path: string, what: string, value: unknown): ValidationIssue {
  return { path, reason: `expected ${what}, got ${describeValue(value)}` };
}

function broken(fields: Readonly<Record<string, unknown>>, path: string, reason: string): BrokenEnvelope {
  const { kind, sid, n, at } = fields;
  return {
    ok: false,
    path,
    reason,
    kind: typeof kind === 'string' ? kind.slice(0, MAX_TEXT_LENGTH) : '',
    sessionId: typeof sid === 'string' ? sid.slice(0, MAX_TEXT_LENGTH) : '',
    sequence: isCount(n) ? n : null,
    receivedAt: isCount(at) && at >= FIRST_RECEIVED_AT && at < END_RECEIVED_AT ? at : null,
  };
}
