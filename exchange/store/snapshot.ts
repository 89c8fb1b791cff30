import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import { UsageError } from '../../core/index.js';

const MAGIC = Buffer.from('CHXSNAP1');
const HEAD = MAGIC.length + 4;

/** A plain value (also typed arrays) as the bytes of a snapshot file. */
export function encodeSnapshot(value: unknown): Buffer {
  const payload = serialize(value);
  const head = Buffer.alloc(HEAD);
  MAGIC.copy(head);
  head.writeUInt32LE(crc32(payload), MAGIC.length);
  return Buffer.concat([head, payload]);
}

/** Puts the bytes at `path`, whole or not at all; on disk when it resolves. */
export async function writeSnapshot(path: string, bytes: Buffer, mode = 0o666): Promise<void> {
  const draft = `${path}.draft`;
  const file = await open(draft, 'w', mode);
  try {
    await file.writeFile(bytes);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(dirname(path));
}

/** Makes created, renamed and removed names of a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** @throws UsageError when it is not an intact snapshot */
export async function readSnapshot(path: string): Promise<unknown> {
  const bytes = await readFile(path);
  const intact =
    bytes.length > HEAD &&
    bytes.subarray(0, MAGIC.length).equals(MAGIC) &&
    crc32(bytes.subarray(HEAD)) === bytes.readUInt32LE(MAGIC.length);
  if (!intact) {
    throw new UsageError(`${path} is damaged: restore the folder from a copy, or name another one with --data`);
  }
  return deserialize(bytes.subarray(HEAD));
}
