import { mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type Database, open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import { describeError, ownIdentity, type ProcessIdentity, UsageError } from '../../core/index.js';
import { BusClosedError, BusWriteError } from '../errors.js';
import { checkDataFile } from './check-file.js';
import { OpenGuard } from './open-guard.js';

/** End of a partition; its version in the store is `end + 1`, so that an append succeeds at that end only. */
export interface EndRow {
  readonly end: number;
  /** Bytes of all blocks ever appended. */
  readonly bytes: number;
}

/** First available offset of a partition; its version in the store is `begin + 1`. */
interface BeginRow {
  readonly begin: number;
  /** Bytes of all blocks ever deleted. */
  readonly bytes: number;
}

export interface TopicRow {
  readonly id: number;
  readonly log: string;
  readonly partitions: number;
  readonly retentionMs: number | null;
  readonly retentionBytes: number | null;
}

interface CommitRow {
  readonly offset: number;
  readonly intent?: string;
  readonly checkpoint?: string;
}

interface MemberRow {
  readonly process: ProcessIdentity;
  readonly topics: readonly string[];
}

/** The owner of a partition in a group (null after its release); its version in the store is the epoch. */
interface ClaimRow {
  readonly member: string | null;
}

type Databases = Pick<Store, 'root' | 'topics' | 'ends' | 'begins' | 'blocks' | 'commits' | 'claims' | 'members'>;

export type PartitionKey = [topic: number, partition: number];
export type BlockKey = [topic: number, partition: number, firstOffset: number];
export type GroupKey = [group: string, topic: number, partition: number];

interface StoreOptions {
  readonly dir: string;
  /** Size of LMDB's memory map, bytes: address space, not memory or disk. */
  readonly mapBytes: number;
  /** Appends are rejected while the disk has less free space than this, bytes. */
  readonly minFreeBytes: number;
}

const FREE_SPACE_MAX_AGE_MS = 1000;

/**
 * The LMDB environment of the embedded log.
 *
 * `overlappingSync` is off: LMDB writes pages, calls fdatasync and writes the meta page through an O_DSYNC descriptor
 * before a write's promise resolves, so readers never see data that a power failure could undo. Pages are 4 KiB, so that
 * a small commit writes little; values span pages anyway. No JavaScript runs under the write lock: every write is a batch
 * of conditional puts that LMDB's writer thread executes, so a busy process does not block others.
 */
export class Store {
  readonly root: RootDatabase;
  readonly topics: Database<TopicRow, string>;
  readonly ends: Database<EndRow, PartitionKey>;
  readonly begins: Database<BeginRow, PartitionKey>;
  readonly blocks: Database<Buffer, BlockKey>;
  readonly commits: Database<CommitRow, GroupKey>;
  readonly claims: Database<ClaimRow, GroupKey>;
  readonly members: Database<MemberRow, [group: string, member: string]>;
  readonly dir: string;
  readonly identity = ownIdentity();
  readonly #guard: OpenGuard;
  readonly #minFreeBytes: number;
  #freeSpace: { at: number; free: number } | undefined;
  #closed = false;

  constructor(options: StoreOptions) {
    this.dir = options.dir;
    this.#minFreeBytes = options.minFreeBytes;
    try {
      mkdirSync(options.dir, { recursive: true });
      const settings = { path: options.dir, mapSize: options.mapBytes, maxDbs: 8, maxReaders: 512, pageSize: 4096 };
      this.#guard = new OpenGuard(options.dir);
      const opened = this.#guard.whileOpening(() => {
        checkDataFile(join(options.dir, 'data.mdb'), settings.pageSize);
        return openAll(settings);
      });
      this.root = opened.root;
      this.topics = opened.topics;
      this.ends = opened.ends;
      this.begins = opened.begins;
      this.blocks = opened.blocks;
      this.commits = opened.commits;
      this.claims = opened.claims;
      this.members = opened.members;
    } catch (error) {
      const reason = describeError(error);
      throw new UsageError(`cannot open the embedded log in ${options.dir}: ${reason}`, { cause: error });
    }
  }

  /**
   * Executes conditional writes in one durable transaction; returns which conditions were met. The others wrote nothing.
   * @throws BusWriteError when the transaction failed: none of its writes took effect
   */
  async write(what: string, operations: () => Promise<boolean>[]): Promise<boolean[]> {
    if (this.#closed) throw new BusClosedError();
    const [transaction, ...results] = await this.#guard.whileWriting(() => {
      if (this.#closed) throw new BusClosedError();
      let inner: Promise<boolean>[] = [];
      const batch = this.root.batch(() => {
        inner = operations();
      });
      return Promise.allSettled([batch, ...inner]);
    });
    const failed = [transaction, ...results].find((r) => r.status === 'rejected');
    if (failed) throw await this.#failure(what, failed.reason);
    return results.map((r) => r.status === 'fulfilled' && r.value);
  }

  /** A transaction whose body reads and writes under the write lock; for rare operations only. */
  async transact<T>(what: string, body: () => T): Promise<T> {
    if (this.#closed) throw new BusClosedError();
    try {
      return await this.#guard.whileWriting(() => this.root.transaction(body));
    } catch (error) {
      throw await this.#failure(what, error);
    }
  }

  /** Later reads see all commits of all processes up to now. */
  refresh(): void {
    if (this.#closed) throw new BusClosedError();
    this.root.resetReadTxn();
  }

  /** Throws `BusWriteError` while the disk is nearly full, before a write of LMDB fails. */
  async assertFreeSpace(): Promise<void> {
    const now = performance.now();
    if (!this.#freeSpace || now - this.#freeSpace.at > FREE_SPACE_MAX_AGE_MS) {
      const { bavail, bsize } = await statfs(this.dir);
      this.#freeSpace = { at: now, free: bavail * bsize };
    }
    if (this.#freeSpace.free < this.#minFreeBytes) {
      const megabytes = (bytes: number) => Math.round(bytes / 1e6);
      throw new BusWriteError(
        `the disk of the embedded log ${this.dir} is nearly full (${megabytes(this.#freeSpace.free)} MB free, ` +
          `${megabytes(this.#minFreeBytes)} MB required): free some space or lower --bus-retention-bytes; ` +
          'appending resumes by itself',
      );
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.root.close();
    this.#guard.close();
  }

  async #failure(what: string, error: unknown): Promise<BusWriteError> {
    const { commitError } = error as { commitError?: Promise<unknown> };
    const cause = commitError ? await commitError.catch((e: unknown) => e) : error;
    const reason = describeError(cause);
    return new BusWriteError(
      `cannot ${what} in the embedded log ${this.dir}: ${reason} (is the disk full?); nothing was written`,
      { cause },
    );
  }
}

function openAll(settings: RootDatabaseOptionsWithPath): Databases {
  const root = open({ ...settings, overlappingSync: false, eventTurnBatching: false });
  return {
    root,
    topics: root.openDB('topics', { encoding: 'json' }),
    ends: root.openDB('ends', { useVersions: true }),
    begins: root.openDB('begins', { useVersions: true }),
    blocks: root.openDB('blocks', { encoding: 'binary' }),
    commits: root.openDB('commits', { encoding: 'json' }),
    claims: root.openDB('claims', { useVersions: true }),
    members: root.openDB('members', { encoding: 'json' }),
  };
}
