/** Buffers of equal size for the texts of blocks: those of finished blocks are used again, by whichever column needs one. */

export const CHUNK_BYTES = 256 * 1024;
/** More are released: 32 MiB. */
const MAX_FREE = 128;

const free: Buffer[] = [];

export const takeChunk = (): Buffer => free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);

/** @param chunk from `takeChunk`, or a longer buffer, which is not kept */
export function returnChunk(chunk: Buffer): void {
  if (chunk.length === CHUNK_BYTES && free.length < MAX_FREE) free.push(chunk);
}
