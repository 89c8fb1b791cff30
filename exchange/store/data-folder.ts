import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describeError, ProcessLock, removeDrafts, syncFolder, UsageError, writeFileAtomic } from '../../core/index.js';
import { FileBlocks } from './blocks.js';
import { Journal, readJournal } from './journal.js';
import { encodeSnapshot, readSnapshot } from './snapshot.js';

const JOURNAL = /^journal-(\d{16})\.log$/;
const SNAPSHOT = /^state-(\d{16})\.snapshot$/;

interface Numbered {
  readonly number: number;
  readonly path: string;
}

interface Saved {
  readonly blocks: number;
  readonly state: unknown;
}

/**
 * A folder that stores a state machine: a snapshot of its state, the journal of commands since, and the blocks of its
 * series. `open` reads the snapshot, `replay` the commands after it; then `append` stores commands, and `checkpoint`
 * writes a new snapshot and deletes older files.
 */
export class DataFolder {
  readonly blocks: FileBlocks;
  #journal: Journal | undefined;
  #folderSynced: Promise<void> = Promise.resolve();
  #checkpoint: Promise<void> | undefined;

  private constructor(
    private readonly path: string,
    private readonly lock: ProcessLock,
    private readonly from: number,
    private readonly saved: Saved | undefined,
  ) {
    this.blocks = new FileBlocks(join(path, 'series.blocks'), saved?.blocks ?? 0);
  }

  /** Locks the folder, and creates it if needed. @throws UsageError when it is in use, not accessible or damaged */
  static async open(path: string): Promise<DataFolder> {
    let lock: ProcessLock | undefined;
    try {
      mkdirSync(path, { recursive: true });
      lock = ProcessLock.acquire(
        join(path, 'exchange.lock'),
        (holder) => `${path} is in use by ${holder}; stop it, or name another --data folder`,
      );
      removeDrafts(path);
      const newest = list(path, SNAPSHOT).at(-1);
      const saved = newest && ((await readSnapshot(newest.path)) as Saved);
      return new DataFolder(path, lock, newest?.number ?? 0, saved);
    } catch (error) {
      lock?.release();
      if (error instanceof UsageError) throw error;
      throw new UsageError(`cannot use ${path} as data folder: ${describeError(error)}`, { cause: error });
    }
  }

  /** The state of the newest snapshot; undefined when there is none. */
  get state(): unknown {
    return this.saved?.state;
  }

  /** Calls `take` with every command after the snapshot, then starts a new journal file. Returns the number of commands. */
  replay(take: (command: string) => void): number {
    const files = list(this.path, JOURNAL).filter((file) => file.number >= this.from);
    let next = this.from;
    for (const [i, file] of files.entries()) {
      if (file.number !== next) {
        throw new UsageError(
          `${this.path} lacks commands ${next} to ${file.number - 1}: restore it from a backup, or name another folder with --data`,
        );
      }
      next = readJournal(file.path, file.number, i === files.length - 1, take).next;
    }
    this.#journal = this.#begin(next);
    return next - this.from;
  }

  /** Bytes of the journal since the last checkpoint or start. */
  get journalBytes(): number {
    return this.#journal?.bytes ?? 0;
  }

  /** Stores a command: it survives a kill of this process once this returns. @throws UnavailableError on a full disk */
  append(command: string): void {
    this.#open().append(command);
  }

  /** Resolves when all commands appended so far are on disk. */
  async durable(): Promise<void> {
    await this.#folderSynced;
    await this.#open().sync();
  }

  /**
   * Writes a snapshot of the current state; the next start replays only later commands.
   * @param state a plain value; it is read before this returns
   */
  checkpoint(state: unknown): Promise<void> {
    this.#checkpoint ??= this.#write(state).finally(() => {
      this.#checkpoint = undefined;
    });
    return this.#checkpoint;
  }

  async close(): Promise<void> {
    await this.#checkpoint?.catch(() => undefined);
    await this.#journal?.close();
    this.blocks.close();
    this.lock.release();
  }

  #open(): Journal {
    if (!this.#journal) throw new Error('append before replay');
    return this.#journal;
  }

  #begin(number: number): Journal {
    const journal = Journal.create(this.#name('journal', number, 'log'), number);
    this.#folderSynced = syncFolder(this.path);
    this.#folderSynced.catch(() => undefined);
    return journal;
  }

  async #write(state: unknown): Promise<void> {
    const old = this.#open();
    const number = old.next;
    const saved: Saved = { blocks: this.blocks.count, state };
    const bytes = encodeSnapshot(saved);
    old.syncNow();
    if (old.bytes > Journal.emptyBytes) {
      this.#journal = this.#begin(number);
      await old.close();
    }
    await this.blocks.sync();
    await writeFileAtomic(this.#name('state', number, 'snapshot'), bytes, true);
    for (const file of [...list(this.path, JOURNAL), ...list(this.path, SNAPSHOT)]) {
      if (file.number < number) rmSync(file.path, { force: true });
    }
  }

  #name(kind: string, number: number, ending: string): string {
    return join(this.path, `${kind}-${String(number).padStart(16, '0')}.${ending}`);
  }
}

/** The folder's files of a kind, by number. */
function list(path: string, pattern: RegExp): Numbered[] {
  return readdirSync(path)
    .flatMap((name) => {
      const match = pattern.exec(name);
      return match ? [{ number: Number(match[1]), path: join(path, name) }] : [];
    })
    .sort((a, b) => a.number - b.number);
}
