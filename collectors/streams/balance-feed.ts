import { type Balance, BalanceStream, type BalanceStreamMessage, type StreamFrame } from '../../client/index.js';
import { PrivateFeed, type PrivateFeedOptions } from './private-feed.js';

/** A poll's response may not include balance changes younger than this, microseconds. */
const ANSWER_LAG_MICROS = 2_000_000;
/** Responses of polls that took longer are not compared, milliseconds. */
const MAX_POLL_MS = 1000;

type StreamedBalance = Pick<Balance, 'assetId' | 'balance' | 'free'>;

/** Records the balance stream of an account (part 6.4). It is verified by comparing its balances with those of polls. */
export class BalanceFeed {
  readonly #feed: PrivateFeed;
  readonly #stream: BalanceStream;
  /** Assets whose balance it has sent. */
  readonly #assets = new Set<string>();
  /** Whether all balances have a free amount; otherwise it is not compared. */
  #withFree = true;

  constructor(private readonly options: PrivateFeedOptions) {
    const about = { stream: 'balance', answerLagMicros: ANSWER_LAG_MICROS } as const;
    this.#feed = new PrivateFeed(options, about, () => this.#stream);
    this.#stream = new BalanceStream({
      ...this.#feed.handlers,
      onMessage: (message, frame) => this.#take(message, frame),
    });
  }

  start(): void {
    this.#feed.start();
  }

  /**
   * Call with the balances of a poll: a stream whose balances stay different is stale; one whose balances equal them has missed
   * nothing up to then, also if it has sent no frame for hours.
   * @param tookMs duration of the poll, milliseconds
   */
  polled(balances: readonly Balance[], tookMs: number): void {
    const { account, clock } = this.options;
    const { connection } = this.#feed;
    const subscription = connection.subscriptions.get(account);
    if (tookMs > MAX_POLL_MS || connection.paused || !subscription?.live) return;
    const values = this.#valuesOf(balances.filter(({ assetId }) => this.#assets.has(assetId)));
    const at = clock.nowMicros();
    connection.monitor.onState(account, values, at, false);
    // Without a balance from the stream there is nothing to compare.
    if (values.size > 0 && subscription.verifiedAt === at)
      connection.onVerified(at - Math.ceil(tookMs * 1000) - ANSWER_LAG_MICROS);
  }

  close(): Promise<void> {
    return this.#feed.close();
  }

  #take(message: BalanceStreamMessage, frame: StreamFrame): void {
    const at = frame.receivedAtMicros;
    const { account } = this.options;
    const { monitor } = this.#feed.connection;
    if (message.type === 'balances') {
      this.#assets.clear();
      this.#feed.authorized(this.#valuesOf(message.balances), at);
      for (const { assetId } of message.balances) this.#assets.add(assetId);
    } else if (message.type === 'authorized') {
      this.#assets.clear();
      this.#feed.authorized(new Map(), at);
    } else if (message.type === 'balance-update') {
      this.#assets.add(message.assetId);
      for (const [asset, value] of this.#valuesOf([message])) monitor.onChange(account, asset, value, at);
      this.#feed.onChangeFrame(frame);
    } else monitor.onActivity(account, at);
  }

  #valuesOf(balances: readonly StreamedBalance[]): Map<string, string> {
    this.#withFree &&= balances.every(({ free }) => free !== null);
    return new Map(
      balances.map((it) => [
        it.assetId,
        this.#withFree ? `${normalized(it.balance)} ${normalized(it.free)}` : normalized(it.balance),
      ]),
    );
  }
}

/** A decimal without trailing zeros. */
function normalized(decimal: string | null): string {
  const text = decimal ?? '';
  return /^-?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, '') : text;
}
