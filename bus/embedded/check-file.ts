import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** LMDB's data file, as far as it is checked: two meta pages, of which the one with the higher transaction ID is in use. */
const META_PAGES = 2;
const META_AT = 24;
const META_BYTES = 136;
const MAGIC = 0xbeefc0de;
const AT = { pageSize: 24, lastPage: 120, transaction: 128 } as const;
/** Pages at the end that a transaction allocated and freed need not be in the file. */
const MAX_UNWRITTEN_PAGES = 256;

/**
 * Checks that a data file of LMDB is complete: LMDB maps it into memory, and a process that reads beyond its end, or takes
 * another file's bytes for pages, is killed by the system without a message. A missing or empty file passes.
 * @throws Error with what is damaged
 */
export function checkDataFile(path: string, pageSize: number): void {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    const { size } = fstatSync(fd);
    if (size === 0) return;
    let last = { transaction: -1n, bytes: 0n };
    for (let page = 0; page < META_PAGES; page++) {
      const meta = Buffer.alloc(META_BYTES);
      readSync(fd, meta, 0, META_BYTES, page * pageSize + META_AT);
      if (meta.readUInt32LE(0) !== MAGIC) throw new Error(`${path} is damaged: it is not a data file of LMDB`);
      const transaction = meta.readBigUInt64LE(AT.transaction);
      const pages = meta.readBigUInt64LE(AT.lastPage) + 1n - BigInt(MAX_UNWRITTEN_PAGES);
      if (transaction > last.transaction) last = { transaction, bytes: pages * BigInt(meta.readUInt32LE(AT.pageSize)) };
    }
    if (BigInt(size) < last.bytes) throw new Error(`${path} is damaged: its end is missing`);
  } finally {
    closeSync(fd);
  }
}
