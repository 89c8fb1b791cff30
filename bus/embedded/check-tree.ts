import { readSync } from 'node:fs';

/** A page of LMDB, little-endian: a header, then the offset of each node (from the end of the header), then the nodes. */
const HEADER_BYTES = 24;
const PAGE_AT = { number: 0, flags: 18, lower: 20, upper: 22 } as const;
const IS_BRANCH = 1;
const IS_LEAF = 2;
/** A node: two halves of the data's length (in a branch: of the child's page number), flags (there: its highest bits), length of the key, key, data. */
const NODE_BYTES = 8;
const NODE_AT = { low: 0, high: 2, flags: 4, keyBytes: 6 } as const;
const IS_DATABASE = 2;
/** The record of a named database, the data of a node. */
const DATABASE_BYTES = 48;
const ROOT_AT = 40;
const NO_PAGE = 2n ** 64n - 1n;

/** Pages that are checked at most, so that a large log opens as fast. They are read level by level: branches before leaves. */
const MAX_PAGES = 4096;

/** The trees of a data file of LMDB. */
export interface Trees {
  readonly fd: number;
  readonly pageSize: number;
  /** Pages of the file that a tree may use. */
  readonly pages: bigint;
  readonly roots: readonly bigint[];
}

/**
 * The number of the first page of the trees that is not a page of a tree; undefined when there is none among the first
 * `MAX_PAGES`. LMDB follows offsets and page numbers without checking them.
 */
export function findDamagedPage({ fd, pageSize, pages, roots }: Trees): bigint | undefined {
  const bytes = Buffer.alloc(pageSize);
  const queue = [...roots].filter((root) => root !== NO_PAGE);
  for (let at = 0; at < Math.min(queue.length, MAX_PAGES); at++) {
    const page = queue[at] as bigint;
    if (page >= pages || readSync(fd, bytes, 0, pageSize, Number(page) * pageSize) < pageSize) return page;
    const children = childrenOf(bytes, page);
    if (!children) return page;
    for (const child of children) if (child !== NO_PAGE) queue.push(child);
  }
  return undefined;
}

/** The pages that a page refers to: children of a branch, roots of the databases in a leaf. Undefined for a damaged page. */
function childrenOf(bytes: Buffer, page: bigint): bigint[] | undefined {
  const kind = bytes.readUInt16LE(PAGE_AT.flags) & (IS_BRANCH | IS_LEAF);
  const lower = bytes.readUInt16LE(PAGE_AT.lower);
  const upper = bytes.readUInt16LE(PAGE_AT.upper);
  const isPage = kind === IS_BRANCH || kind === IS_LEAF;
  if (!isPage || bytes.readBigUInt64LE(PAGE_AT.number) !== page) return undefined;
  if (lower > upper || HEADER_BYTES + upper > bytes.length) return undefined;
  const children: bigint[] = [];
  for (let offset = HEADER_BYTES; offset < HEADER_BYTES + lower; offset += 2) {
    const node = HEADER_BYTES + bytes.readUInt16LE(offset);
    if (node < HEADER_BYTES + upper || node + NODE_BYTES > bytes.length) return undefined;
    const data = node + NODE_BYTES + bytes.readUInt16LE(node + NODE_AT.keyBytes);
    if (data > bytes.length) return undefined;
    const flags = bytes.readUInt16LE(node + NODE_AT.flags);
    if (kind === IS_BRANCH) {
      const low = bytes.readUInt16LE(node + NODE_AT.low) + bytes.readUInt16LE(node + NODE_AT.high) * 2 ** 16;
      children.push(BigInt(low) + (BigInt(flags) << 32n));
    } else if (flags & IS_DATABASE) {
      if (data + DATABASE_BYTES > bytes.length) return undefined;
      children.push(bytes.readBigUInt64LE(data + ROOT_AT));
    }
  }
  return children;
}
