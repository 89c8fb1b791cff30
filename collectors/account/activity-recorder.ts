import { join } from 'node:path';
import type { AccountClient, Activity } from '../../client/index.js';
import type { Recorder, RecorderContext } from '../recorder.js';
import type { AccountParts } from './account-recorder.js';
import { AccountState } from './account-state.js';
import { HistoryPoll } from './history-poll.js';
import { PollTask } from './poll-task.js';

/** Name of the feed in records. */
export const ACTIVITY = 'activity';

/**
 * Polls the activity feed (part 4.4), which lists the trades of all users: once, with the first API key that the exchange
 * accepts. Its state does not depend on the key.
 */
export class ActivityRecorder implements Recorder {
  readonly #state: AccountState;
  readonly #task: PollTask;
  #clientIndex = 0;

  /** @param clients at least one */
  constructor(
    private readonly clients: readonly AccountClient[],
    { polls: parts, folder, log, signal }: AccountParts,
  ) {
    const state = new AccountState(join(folder, `account-${ACTIVITY}.json`), log);
    const poll = new HistoryPoll<Activity>({
      parts,
      state,
      subject: ACTIVITY,
      kind: 'account.activity',
      operation: 'activity',
      walk: (options) => this.#client.walkActivity(options),
      idOf: (item) => item.tradeRecordId,
    });
    const onRejected = () => {
      this.#clientIndex = (this.#clientIndex + 1) % clients.length;
    };
    const options = { account: 'all users', what: 'activity', clock: parts.clock, log, signal };
    this.#state = state;
    this.#task = new PollTask({ ...options, attempts: clients.length, onRejected }, poll);
  }

  async start({ schedules, accountLog }: RecorderContext): Promise<void> {
    await this.#state.load(accountLog);
    schedules.add('activity', this.#task.run);
  }

  async stop(): Promise<void> {
    await this.#task.idle();
    await this.#state.flush();
  }

  get #client(): AccountClient {
    const client = this.clients[this.#clientIndex];
    if (!client) throw new Error('the activity feed needs an account with an API key');
    return client;
  }
}
