import { crc32 } from 'node:zlib';

/** Length, number (low 32 bits) and checksum, each 4 bytes, little-endian; then the payload. */
const HEAD = 12;
const MAX_PAYLOAD = 1 << 20;

/** One journal frame. The checksum covers its number too, so a frame at another position is not intact. */
export function encodeFrame(number: number, payload: string): Buffer {
  const length = Buffer.byteLength(payload);
  if (length === 0 || length > MAX_PAYLOAD) throw new RangeError(`a frame of ${length} bytes`);
  const frame = Buffer.allocUnsafe(HEAD + length);
  frame.writeUInt32LE(length, 0);
  frame.writeUInt32LE(number >>> 0, 4);
  frame.write(payload, HEAD);
  frame.writeUInt32LE(crc32(frame.subarray(HEAD), number >>> 0), 8);
  return frame;
}

/** The end of the intact frames, and whether another intact frame follows after it. */
interface FrameScan {
  readonly frames: number;
  readonly end: number;
  readonly damaged: boolean;
}

/**
 * Calls `take` with every payload from frame `number` up to the first frame that is not intact. The rest is a torn tail;
 * if a later frame is intact, the file is damaged.
 */
export function scanFrames(bytes: Buffer, start: number, number: number, take: (payload: string) => void): FrameScan {
  let at = start;
  let frames = 0;
  for (;;) {
    const length = frameAt(bytes, at, number + frames);
    if (length === undefined) break;
    take(bytes.toString('utf8', at + HEAD, at + HEAD + length));
    at += HEAD + length;
    frames += 1;
  }
  return { frames, end: at, damaged: hasLaterFrame(bytes, at + 1, number + frames) };
}

function frameAt(bytes: Buffer, at: number, number: number): number | undefined {
  if (at + HEAD > bytes.length) return undefined;
  const length = bytes.readUInt32LE(at);
  if (length === 0 || length > MAX_PAYLOAD || at + HEAD + length > bytes.length) return undefined;
  if (bytes.readUInt32LE(at + 4) !== number >>> 0) return undefined;
  const payload = bytes.subarray(at + HEAD, at + HEAD + length);
  return crc32(payload, number >>> 0) === bytes.readUInt32LE(at + 8) ? length : undefined;
}

function hasLaterFrame(bytes: Buffer, start: number, number: number): boolean {
  for (let at = start; at + HEAD < bytes.length; at++) {
    const candidate = bytes.readUInt32LE(at + 4);
    if (candidate > number && candidate - number < bytes.length && frameAt(bytes, at, candidate) !== undefined)
      return true;
  }
  return false;
}
