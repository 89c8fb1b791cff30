import type { IncomingMessage } from 'node:http';
import { HttpError } from './errors.js';

/** Larger request bodies are refused. */
export const MAX_BODY_BYTES = 64 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A request's body as it came; undefined when it is larger than `MAX_BODY_BYTES`. */
export type RawBody = Buffer | undefined;

/**
 * Reads a request's body to its end, or until it is too large (what still comes is thrown away).
 * @param signed sees every byte, also of a body that is too large
 */
export function readBody(request: IncomingMessage, signed?: { update(chunk: Buffer): void }): Promise<RawBody> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      signed?.update(chunk);
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else if (!signed) resolve(undefined);
    });
    request.on('end', () => resolve(size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined));
    request.on('error', reject);
    request.on('close', () => reject(new Error('the client went away')));
  });
}

/** The JSON value of a body; undefined when it is empty. @throws HttpError 400 when it is too large or not JSON */
export function parseBody(body: RawBody): unknown {
  if (!body) throw new HttpError(400, `the body is larger than ${MAX_BODY_BYTES} bytes`);
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    throw new HttpError(400, 'the body is not JSON');
  }
}
