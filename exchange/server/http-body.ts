import type { Readable } from 'node:stream';
import { HttpError } from './errors.js';

/** Larger request bodies are rejected. */
const MAX_BODY_BYTES = 64 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

const TOO_LARGE = Symbol('too large');
/** A request's body as it was sent. */
export type RawBody = Buffer | typeof TOO_LARGE;

/** Takes the body, or the error that ended it. */
export type BodyParsed = (error: Error | null, body?: RawBody) => void;

/**
 * Reads a request's body to its end, or until it is too large; the rest is discarded.
 * @param signed receives every byte, also of a body that is too large
 * @param done called once
 */
export function readBody(
  request: Readable,
  signed: { update(chunk: Buffer): void } | undefined,
  done: BodyParsed,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let ended = false;
  const end = (error: Error | null, body?: RawBody) => {
    if (ended) return;
    ended = true;
    done(error, body);
  };
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    signed?.update(chunk);
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    else if (!signed) end(null, TOO_LARGE);
  });
  request.on('end', () => end(null, size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : TOO_LARGE));
  request.on('error', end);
  request.on('close', () => end(new Error('the client disconnected')));
}

/** The JSON value of a body; undefined when it is empty. @throws HttpError 400 when it is too large or not JSON */
export function parseBody(body: RawBody): unknown {
  if (body === TOO_LARGE) throw new HttpError(400, `the body is larger than ${MAX_BODY_BYTES} bytes`);
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    throw new HttpError(400, 'the body is not JSON');
  }
}
