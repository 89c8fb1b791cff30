import { readFile } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import { UsageError } from '../../core/index.js';

const MAGIC = Buffer.from('CHXSNAP1');
const HEAD = MAGIC.length + 4;

/** Encodes a plain value (typed arrays included) as a snapshot file. */
export function encodeSnapshot(value: unknown): Buffer {
  const payload = serialize(value);
  const head = Buffer.alloc(HEAD);
  MAGIC.copy(head);
  head.writeUInt32LE(crc32(payload), MAGIC.length);
  return Buffer.concat([head, payload]);
}

/** @throws UsageError when it is not an intact snapshot */
export async function readSnapshot(path: string): Promise<unknown> {
  const bytes = await readFile(path);
  const intact =
    bytes.length > HEAD &&
    bytes.subarray(0, MAGIC.length).equals(MAGIC) &&
    crc32(bytes.subarray(HEAD)) === bytes.readUInt32LE(MAGIC.length);
  if (!intact) {
    throw new UsageError(`${path} is damaged: restore the folder from a backup, or name another one with --data`);
  }
  return deserialize(bytes.subarray(HEAD));
}
