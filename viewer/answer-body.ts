import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** Smaller bodies are sent as they are. */
const MIN_COMPRESSED_BYTES = 4096;
/** Fast: the client is mostly on the same machine. */
const LEVEL = 1;
const compressed = promisify(gzip);

/** A value as JSON, compressed where that is worth it and the client accepts it. */
export async function answerBody(
  value: unknown,
  { 'accept-encoding': accepted = '' }: IncomingHttpHeaders,
): Promise<{ readonly body: Buffer; readonly encoding?: 'gzip' }> {
  const body = Buffer.from(JSON.stringify(value));
  if (body.length < MIN_COMPRESSED_BYTES || !/\bgzip\b(?!;\s*q=0)/.test(String(accepted))) return { body };
  return { body: await compressed(body, { level: LEVEL }), encoding: 'gzip' };
}
