import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

const BUFFER_BYTES = 262_144;

/** The SHA-256 of a file, in hexadecimal digits. It is read into one buffer, which stays in the cache of the processor. */
export async function sha256OfFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  const file = await open(path);
  try {
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, BUFFER_BYTES);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/** Lines as `sha256sum -c` reads them. */
export const checksumLines = (sums: readonly (readonly [path: string, sha256: string])[]): string =>
  sums.map(([path, sha256]) => `${sha256}  ${path}\n`).join('');

/** Path and hash of each line. */
export function readChecksums(content: string): (readonly [path: string, sha256: string])[] {
  const lines = content.split('\n').filter((line) => line !== '');
  return lines.map((line) => [line.slice(66), line.slice(0, 64)] as const);
}
