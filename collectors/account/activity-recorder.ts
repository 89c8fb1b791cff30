import { join } from 'node:path';
import type { AccountClient, Activity } from '../../client/index.js';
import type { AccountParts } from './account-recorder.js';
import { AccountState } from './account-state.js';
import { HistoryPoll } from './history-poll.js';
import { AccountPoll, isRefusal } from './poll-task.js';

/** Name of the feed in records. */
export const ACTIVITY = 'activity';

/**
 * Polls the activity feed (part 4.4), which is everybody's: once, with whichever account's key is accepted, and starting
 * from what is known whoever asked before.
 */
export class ActivityRecorder {
  readonly #state: AccountState;
  readonly #poll: AccountPoll;
  #asker = 0;

  /** @param clients one at least */
  constructor(
    private readonly clients: readonly AccountClient[],
    { polls, folder, log, signal }: AccountParts,
  ) {
    this.#state = new AccountState(join(folder, `account-${ACTIVITY}.json`), log);
    const history = new HistoryPoll<Activity>({
      parts: polls,
      kind: 'account.activity',
      history: ACTIVITY,
      subject: ACTIVITY,
      state: this.#state,
      walk: (options) => this.#client.walkActivity(options),
      idOf: (item) => item.tradeRecordId,
    });
    const options = { account: 'everybody', what: 'activity', clock: polls.clock, log, signal };
    this.#poll = new AccountPoll(options, async (stop) => {
      let failure: unknown;
      for (let tries = 0; tries < clients.length; tries++) {
        ({ failure } = await history.run(stop));
        if (!isRefusal(failure)) return failure;
        this.#asker += 1;
      }
      return failure;
    });
  }

  /** @param log identity of the log that account records go to */
  start(log: string): Promise<void> {
    return this.#state.load(log);
  }

  /** It is its time. */
  due(): void {
    this.#poll.due();
  }

  /** After the signal: resolves when everything is let go. */
  async stop(): Promise<void> {
    await this.#poll.idle();
    await this.#state.flush();
  }

  get #client(): AccountClient {
    const client = this.clients[this.#asker % this.clients.length];
    if (!client) throw new Error('the activity feed has no account to ask with');
    return client;
  }
}
