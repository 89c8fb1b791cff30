import type { IncomingMessage } from 'node:http';
import { HttpError } from './errors.js';

/** Larger request bodies are refused. */
export const MAX_BODY_BYTES = 64 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The request's JSON body; undefined when there is none.
 * @throws HttpError 400 when it is larger than `MAX_BODY_BYTES` (what still comes is read and thrown away) or not JSON
 */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const bytes = await readBody(request);
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw new HttpError(400, 'the body is not JSON');
  }
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else reject(new HttpError(400, `the body is larger than ${MAX_BODY_BYTES} bytes`));
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => reject(new Error('the client went away')));
  });
}
