import { setInterval } from 'node:timers';
import { describeError, type Logger, UsageError } from '../../core/index.js';
import { DataFolder, MemoryBlocks } from '../store/index.js';
import type { BeginCommand, Command } from './commands.js';
import { Machine } from './machine.js';
import type { Outbox } from './outbox.js';
import { restoreState, type SavedState, STATE_FORMAT, saveState } from './saved-state.js';
import { State } from './state.js';

/** A new snapshot is made when the journal since the last one is this large. */
const CHECKPOINT_BYTES = 32 * 1024 * 1024;
const UPKEEP_MS = 1000;

/** Where the machine's commands and state are kept: in a folder, or in memory only. */
export class Storage {
  #folder: DataFolder | undefined;
  #upkeep: NodeJS.Timeout | undefined;

  constructor(
    private readonly path: string | undefined,
    private readonly log: Logger | undefined,
  ) {}

  /** The machine as it was left, or a new one that begins with `begin`. @throws UsageError */
  async open(begin: BeginCommand, outbox: Outbox): Promise<Machine> {
    if (this.path === undefined) return newMachine(begin, new MemoryBlocks(), outbox);
    const folder = await DataFolder.open(this.path);
    this.#folder = folder;
    let machine = folder.state === undefined ? undefined : restored(folder, this.path, outbox);
    const replayed = folder.replay((text) => {
      const command = JSON.parse(text) as Command | BeginCommand;
      if (command.do === 'begin') machine = newMachine(command, folder.blocks, outbox);
      else if (machine) machine.apply(command);
      else throw new UsageError(`the journal in ${this.path} lacks its beginning; name another folder with --data`);
    });
    if (!machine) {
      folder.append(JSON.stringify(begin));
      machine = newMachine(begin, folder.blocks, outbox);
    }
    this.log?.debug({ replayed }, 'exchange data read');
    const { state } = machine;
    this.#upkeep = setInterval(() => this.#keepUp(state), UPKEEP_MS).unref();
    return machine;
  }

  keep(command: Command): void {
    this.#folder?.append(JSON.stringify(command));
  }

  durable(): Promise<void> {
    return this.#folder?.durable() ?? Promise.resolve();
  }

  /** With a state: makes it the point from which the next start goes on. */
  async close(state: State | undefined): Promise<void> {
    clearInterval(this.#upkeep);
    const folder = this.#folder;
    this.#folder = undefined;
    if (!folder) return;
    try {
      if (state) await folder.checkpoint(saveState(state));
    } catch (error) {
      this.log?.warn(
        { cause: describeError(error) },
        'no snapshot at the end; the next start reads the journal instead',
      );
    } finally {
      await folder.close();
    }
  }

  #keepUp(state: State): void {
    const folder = this.#folder;
    if (!folder) return;
    const large = folder.journalBytes >= CHECKPOINT_BYTES;
    const upkeep = large ? folder.checkpoint(saveState(state)) : folder.durable();
    upkeep.catch((error: unknown) => {
      this.log?.warn({ cause: describeError(error) }, 'exchange data could not be brought to disk; trying again');
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
      `the data in ${path} has format ${saved.format}, this version reads ${STATE_FORMAT}; name another folder with --data`,
    );
  }
  return new Machine(restoreState(saved, folder.blocks), outbox);
}
