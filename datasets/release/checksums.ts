import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** The SHA-256 of a file, in hexadecimal digits. */
export async function sha256OfFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576, signal })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Lines as `sha256sum -c` reads them. */
export const checksumLines = (sums: readonly (readonly [path: string, sha256: string])[]): string =>
  sums.map(([path, sha256]) => `${sha256}  ${path}\n`).join('');

/** Path and hash of each line. */
export function readChecksums(content: string): (readonly [path: string, sha256: string])[] {
  const lines = content.split('\n').filter((line) => line !== '');
  return lines.map((line) => [line.slice(66), line.slice(0, 64)] as const);
}
