import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { countGarbage } from '../core/index.js';

/** Smaller bodies are sent as they are. */
const MIN_COMPRESSED_BYTES = 4096;
/** Fast: the client is mostly on the same machine. */
const LEVEL = 1;
const compressed = promisify(gzip);

/** The bodies of values that are sent to several clients; each is kept as long as its value. */
const encoded = new WeakMap<object, Promise<Buffer>>();

/** A value as JSON, compressed where that is worth it and the client accepts it; what is compressed is compressed once. */
export async function answerBody(
  value: unknown,
  { 'accept-encoding': accepted = '' }: IncomingHttpHeaders,
): Promise<{ readonly body: Buffer; readonly encoding?: 'gzip' }> {
  const isAccepted = /\bgzip\b(?!;\s*q=0)/.test(String(accepted));
  const known = isAccepted && typeof value === 'object' && value !== null ? encoded.get(value) : undefined;
  if (known) return { body: await known, encoding: 'gzip' };
  const body = Buffer.from(JSON.stringify(value));
  countGarbage(body.length);
  if (body.length < MIN_COMPRESSED_BYTES || !isAccepted) return { body };
  const result = compressed(body, { level: LEVEL });
  encoded.set(value as object, result);
  return { body: await result, encoding: 'gzip' };
}
