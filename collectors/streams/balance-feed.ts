import { type Balance, BalanceStream, type BalanceStreamMessage } from '../../client/index.js';
import { PrivateFeed, type PrivateFeedOptions } from './private-feed.js';

/** An answer may not know of a balance that changed less than this before it, microseconds. */
const SETTLE_MICROS = 2_000_000;
/** A poll that took longer says nothing about this moment, milliseconds. */
const PROMPT_MS = 1000;

type Told = Pick<Balance, 'assetId' | 'balance' | 'free'>;

/** Records the balance stream of an account (part 6.4). It proves that it lives by telling what polls find. */
export class BalanceFeed {
  readonly #feed: PrivateFeed;
  readonly #stream: BalanceStream;
  /** Assets that it has told of. */
  readonly #told = new Set<string>();
  /** Whether all balances come with their free part; if one does not, only what all have is compared. */
  #withFree = true;

  constructor(private readonly options: PrivateFeedOptions) {
    const about = { stream: 'balance', kind: 'account.balance-frame', settleMicros: SETTLE_MICROS } as const;
    this.#feed = new PrivateFeed(options, about, () => this.#stream);
    this.#stream = new BalanceStream({
      ...this.#feed.handlers,
      onMessage: (message, { receivedAtMicros }) => this.#take(message, receivedAtMicros),
    });
  }

  start(): void {
    this.#feed.start();
  }

  /**
   * A poll found these balances: a stream that keeps telling others is frozen.
   * @param tookMs how long the poll took, milliseconds
   */
  polled(balances: readonly Balance[], tookMs: number): void {
    const { account, clock } = this.options;
    const { connection } = this.#feed;
    if (tookMs > PROMPT_MS || connection.paused || !connection.subscriptions.get(account)?.live) return;
    const values = this.#valuesOf(balances.filter(({ assetId }) => this.#told.has(assetId)));
    connection.health.onState(account, values, clock.nowMicros(), false);
  }

  close(): Promise<void> {
    return this.#feed.close();
  }

  #take(message: BalanceStreamMessage, at: number): void {
    const { account } = this.options;
    const { health } = this.#feed.connection;
    if (message.type === 'balances') {
      this.#told.clear();
      this.#feed.authorized(this.#valuesOf(message.balances), at);
      for (const { assetId } of message.balances) this.#told.add(assetId);
    } else if (message.type === 'authorized') {
      this.#told.clear();
      this.#feed.authorized(new Map(), at);
    } else if (message.type === 'balance-update') {
      this.#told.add(message.assetId);
      for (const [asset, value] of this.#valuesOf([message])) health.onChange(account, asset, value, at);
    } else health.onLife(account, at);
  }

  #valuesOf(balances: readonly Told[]): Map<string, string> {
    this.#withFree &&= balances.every(({ free }) => free !== null);
    return new Map(
      balances.map((it) => [it.assetId, this.#withFree ? `${plain(it.balance)} ${plain(it.free)}` : plain(it.balance)]),
    );
  }
}

/** A decimal as one text, however it was written. */
function plain(decimal: string | null): string {
  const text = decimal ?? '';
  return /^-?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, '') : text;
}
