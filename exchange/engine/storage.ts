import { setInterval } from 'node:timers';
import { describeError, type Logger, UsageError } from '../../core/index.js';
import { DataFolder, MemoryBlocks } from '../store/index.js';
import type { BeginCommand, Command } from './commands.js';
import { Machine } from './machine.js';
import type { Outbox } from './outbox.js';
import { restoreState, type SavedState, STATE_FORMAT, saveState } from './saved-state.js';
import { State } from './state.js';

/** Journal size since the last snapshot at which a new one is written. */
const CHECKPOINT_BYTES = 32 * 1024 * 1024;
const MAINTENANCE_INTERVAL_MS = 1000;

/** Stores the machine's commands and state in a folder, or in memory only. */
export class Storage {
  #folder: DataFolder | undefined;
  #maintenance: NodeJS.Timeout | undefined;

  constructor(
    private readonly path: string | undefined,
    private readonly log: Logger | undefined,
  ) {}

  /** Restores the machine from the folder, or creates one with `begin`. @throws UsageError */
  async open(begin: BeginCommand, outbox: Outbox): Promise<Machine> {
    if (this.path === undefined) return newMachine(begin, new MemoryBlocks(), outbox);
    const folder = await DataFolder.open(this.path);
    this.#folder = folder;
    let machine = folder.state === undefined ? undefined : restored(folder, this.path, outbox);
    const replayed = folder.replay((text) => {
      const command = JSON.parse(text) as Command | BeginCommand;
      if (command.do === 'begin') machine = newMachine(command, folder.blocks, outbox);
      else if (machine) machine.apply(command);
      else throw new UsageError(`the journal in ${this.path} lacks its first command; name another folder with --data`);
    });
    if (!machine) {
      folder.append(JSON.stringify(begin));
      machine = newMachine(begin, folder.blocks, outbox);
    }
    this.log?.debug({ replayed }, 'restored the exchange data');
    const { state } = machine;
    this.#maintenance = setInterval(() => this.#maintain(state), MAINTENANCE_INTERVAL_MS).unref();
    return machine;
  }

  append(command: Command): void {
    this.#folder?.append(JSON.stringify(command));
  }

  durable(): Promise<void> {
    return this.#folder?.durable() ?? Promise.resolve();
  }

  /** @param state if given, a snapshot of it is written, from which the next start resumes */
  async close(state: State | undefined): Promise<void> {
    clearInterval(this.#maintenance);
    const folder = this.#folder;
    this.#folder = undefined;
    if (!folder) return;
    try {
      if (state) await folder.checkpoint(saveState(state));
    } catch (error) {
      this.log?.warn(
        { cause: describeError(error) },
        'could not write a snapshot on exit; the next start replays the journal instead',
      );
    } finally {
      await folder.close();
    }
  }

  #maintain(state: State): void {
    const folder = this.#folder;
    if (!folder) return;
    const large = folder.journalBytes >= CHECKPOINT_BYTES;
    const written = large ? folder.checkpoint(saveState(state)) : folder.durable();
    written.catch((error: unknown) => {
      this.log?.warn({ cause: describeError(error) }, 'could not write exchange data to disk; retrying');
    });
  }
}

function newMachine(begin: BeginCommand, blocks: State['blocks'], outbox: Outbox): Machine {
  const state = new State(begin.seed, begin.takerFeeBps, blocks);
  state.lastAt = begin.at;
  return new Machine(state, outbox);
}

function restored(folder: DataFolder, path: string, outbox: Outbox): Machine {
  const saved = folder.state as SavedState;
  if (saved.format !== STATE_FORMAT) {
    throw new UsageError(
      `the data in ${path} has format ${saved.format}, but this version reads ${STATE_FORMAT}; name another folder with --data`,
    );
  }
  return new Machine(restoreState(saved, folder.blocks), outbox);
}
