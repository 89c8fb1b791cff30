import { join } from 'node:path';
import { AccountClient, type ExchangeAddresses } from '../../client/index.js';
import type { AccountCredentials, Logger } from '../../core/index.js';
import type { PollParts } from '../polls/poll.js';
import type { Recorder, RecorderContext } from '../recorder.js';
import { BalanceFeed } from '../streams/balance-feed.js';
import type { FeedParts } from '../streams/feed-protocol.js';
import { OrderUpdatesFeed } from '../streams/order-updates-feed.js';
import { AccountPollSchedule, type AccountPollScheduleOptions } from './account-poll-schedule.js';
import { AccountState } from './account-state.js';
import { credentialsOf } from './credentials.js';

/** Dependencies that all accounts share. */
export interface AccountParts {
  readonly polls: PollParts;
  readonly feeds: Omit<FeedParts, 'onGap'>;
  readonly addresses: ExchangeAddresses;
  readonly log: Logger;
  /** Folder of the state files. */
  readonly folder: string;
  readonly reconnectCapMs?: number;
  /** Aborted when the collector stops. */
  readonly signal: AbortSignal;
}

/**
 * Records all data of one account that its credentials give access to: lists, histories and statistics by polls, order
 * updates and balances also by their streams. After a gap in a stream, the polls run at once.
 */
export class AccountRecorder implements Recorder {
  readonly name: string;
  /** The client of the account; undefined when it has no API key. */
  readonly keyClient: AccountClient | undefined;
  readonly #state: AccountState;
  readonly #polls: AccountPollSchedule;
  readonly #orders: OrderUpdatesFeed | undefined;
  readonly #balance: BalanceFeed | undefined;

  /** @throws UsageError for malformed credentials */
  constructor(
    private readonly account: AccountCredentials,
    parts: AccountParts,
  ) {
    const { polls, folder, log, signal } = parts;
    this.name = account.name;
    const credentials = credentialsOf(account, polls.client);
    const client = new AccountClient(polls.client, credentials);
    const { apiKey } = credentials;
    this.keyClient = apiKey && client;
    this.#state = new AccountState(join(folder, `account-${account.name}.json`), log);
    const common = { account: account.name, client, credentials, state: this.#state, log, signal };
    const onBalances: AccountPollScheduleOptions['onBalances'] = (...polled) => this.#balance?.polled(...polled);
    this.#polls = new AccountPollSchedule({ ...common, parts: polls, onBalances });
    if (!apiKey) return;
    const { addresses, feeds, reconnectCapMs } = parts;
    const cap = reconnectCapMs === undefined ? {} : { reconnectCapMs };
    const { serverTime } = polls.client;
    const stream = { ...feeds, ...cap, addresses, apiKey, serverTime, account: account.name, log };
    const onGap = () => this.#polls.refresh();
    this.#orders = new OrderUpdatesFeed({ ...stream, onGap, onTpsl: (asset) => this.#polls.tpslChanged(asset) });
    this.#balance = new BalanceFeed({ ...stream, onGap });
  }

  async start({ schedules, accountLog }: RecorderContext): Promise<void> {
    await this.#state.load(accountLog);
    if (this.account.userId !== undefined) this.#state.userId = this.account.userId;
    this.#orders?.start();
    this.#balance?.start();
    this.#polls.start(schedules);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#orders?.close(), this.#balance?.close(), this.#polls.idle()]);
    await this.#state.flush();
  }
}
