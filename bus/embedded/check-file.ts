import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { findDamagedPage } from './check-tree.js';

/** LMDB's data file begins with two meta pages. The one with the higher transaction ID is in use. */
const META_PAGES = 2;
const META_AT = 24;
const META_BYTES = 136;
const MAGIC = 0xbeefc0de;
const AT = { pageSize: 24, freeRoot: 64, mainRoot: 112, lastPage: 120, transaction: 128 } as const;
/** Pages at the end that a transaction allocated and freed need not be in the file. */
const MAX_UNWRITTEN_PAGES = 256;

/**
 * Checks that a data file of LMDB is complete and that its trees can be followed: LMDB maps the file into memory, and a
 * process that reads beyond its end, or takes other bytes for pages, is killed by the system without a message. A missing
 * or empty file passes.
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
    if (fstatSync(fd).size === 0) return;
    let damage: Damage | undefined = damageOf(fd, pageSize);
    // A transaction that was committed meanwhile may have used pages of the one that was read.
    for (let last = -1n; damage && damage.transaction !== last; ) {
      last = damage.transaction;
      damage = damageOf(fd, pageSize);
    }
    if (damage) throw new Error(`${path} is damaged: ${damage.what}`);
  } finally {
    closeSync(fd);
  }
}

interface Damage {
  readonly what: string;
  /** The transaction that was checked. */
  readonly transaction: bigint;
}

function damageOf(fd: number, pageSize: number): Damage | undefined {
  let meta: Buffer | undefined;
  let transaction = -1n;
  for (let page = 0; page < META_PAGES; page++) {
    const bytes = Buffer.alloc(META_BYTES);
    readSync(fd, bytes, 0, META_BYTES, page * pageSize + META_AT);
    if (bytes.readUInt32LE(0) !== MAGIC) return { what: 'it is not a data file of LMDB', transaction };
    if (bytes.readBigUInt64LE(AT.transaction) <= transaction) continue;
    transaction = bytes.readBigUInt64LE(AT.transaction);
    meta = bytes;
  }
  if (!meta) return undefined;
  const pages = meta.readBigUInt64LE(AT.lastPage) + 1n;
  const complete = (pages - BigInt(MAX_UNWRITTEN_PAGES)) * BigInt(meta.readUInt32LE(AT.pageSize));
  if (BigInt(fstatSync(fd).size) < complete) return { what: 'its end is missing', transaction };
  const roots = [meta.readBigUInt64LE(AT.freeRoot), meta.readBigUInt64LE(AT.mainRoot)];
  const damaged = findDamagedPage({ fd, pageSize, pages, roots });
  return damaged === undefined ? undefined : { what: `page ${damaged} is not a page of a tree`, transaction };
}
