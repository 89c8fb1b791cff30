import { onTestFinished } from 'vitest';
import {
  AccountClient,
  ApiKey,
  type DecodedList,
  ExchangeClient,
  type InvalidBody,
  LoginSession,
  type LosslessJson,
  parseLossless,
} from '../../client/index.js';
import { type OrderTarget, TradingClient } from '../../client/trading/index.js';
import { type AccountCredentials, type RawRecord, type RecordKind, Secret, TOPICS } from '../../core/index.js';
import type { ReadyLine } from '../../exchange/index.js';
import { spawnExchange } from '../exchange/server-process-target.js';
import type { CollectorRig } from './rig.js';

type Seeded = ReadyLine['accounts'][number];

/** A fill as the exchange's ledger tells it. */
export interface Fill {
  readonly tradeId: string;
  readonly buyer: string;
  readonly seller: string;
}

/** A seeded account with its credentials and everything that it can do. */
export interface Trader {
  readonly name: string;
  readonly userId: string;
  readonly credentials: AccountCredentials;
  readonly account: AccountClient;
  readonly trading: TradingClient;
  /** Texts that must not appear anywhere. */
  readonly secrets: readonly string[];
}

/** An exchange in a process of its own, with one open market and two accounts that trade with each other. */
export interface AccountMarket {
  readonly ready: ReadyLine;
  readonly ann: Trader;
  readonly bob: Trader;
  readonly yes: OrderTarget;
  readonly no: OrderTarget;
  /** Ann buys YES from nobody: Bob buys the NO of the pair. Answers Ann's order ID. */
  fill(quantity?: string): Promise<string>;
  /** Arms a fault. */
  fault(
    kind: string,
    options?: { readonly stream?: string; readonly count?: number; readonly ms?: number },
  ): Promise<void>;
  /** How many armed faults have not struck. */
  armed(): Promise<number>;
  control(method: string, path: string, body?: unknown): Promise<Response>;
  /** Every fill so far, in order. */
  fills(): Promise<Fill[]>;
  kill(): void;
}

export async function accountMarket(...flags: string[]): Promise<AccountMarket> {
  const { child, ready } = await spawnExchange('--bots', '0', '--events', '1', ...flags);
  onTestFinished(() => void child.kill('SIGKILL'));
  const exchange = new ExchangeClient({ addresses: { base: ready.url }, requestsPerSecond: 1000, concurrency: 8 });
  onTestFinished(() => exchange.close());
  const [ann, bob] = ready.accounts.map((seeded) => traderOf(exchange, seeded));
  const [event] = (await exchange.searchEvents()).items;
  const usdc = (await exchange.coins()).items.find(({ ticker }) => ticker === 'USDC')?.coinId;
  const [first] = event?.markets ?? [];
  if (!ann || !bob || !event || !first?.yesAssetId || !first.noAssetId || !usdc) throw new Error('there is no market');
  const position = { eventId: event.eventId, marketId: first.marketId, quoteAssetId: usdc };
  const yes: OrderTarget = { ...position, assetId: first.yesAssetId };
  const no: OrderTarget = { ...position, assetId: first.noAssetId };
  const control: AccountMarket['control'] = (method, path, body) =>
    fetch(`${ready.control.url}${path}`, {
      method,
      headers: { 'X-Control-Token': ready.control.token },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    ready,
    ann,
    bob,
    yes,
    no,
    control,
    async fill(quantity = '1') {
      await bob.trading.placeLimitOrder({ ...no, side: 'BUY', price: '0.60', quantity });
      return (await ann.trading.placeLimitOrder({ ...yes, side: 'BUY', price: '0.40', quantity })).orderId;
    },
    async fault(kind, options = {}) {
      const { status } = await control('POST', '/faults', { kind, ...options });
      if (status !== 200) throw new Error(`the exchange does not arm ${kind}`);
    },
    async armed() {
      return ((await (await control('GET', '/faults')).json()) as { armed: unknown[] }).armed.length;
    },
    async fills() {
      const text = await (await control('GET', '/truth/trades?after=0')).text();
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Fill);
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

function traderOf(exchange: ExchangeClient, { email, password, userId, apiKey: key, apiSecret }: Seeded): Trader {
  const apiKey = new ApiKey(key, new Secret(apiSecret));
  const jwt = new LoginSession(exchange, { email, password: new Secret(password) });
  const name = email.replace(/@.*/, '');
  return {
    name,
    userId,
    credentials: {
      name,
      apiKey: { key, secret: new Secret(apiSecret) },
      login: { email, password: new Secret(password) },
    },
    account: new AccountClient(exchange, { apiKey, jwt }),
    trading: new TradingClient(exchange, { apiKey }),
    secrets: [apiSecret, password],
  };
}

/** Every second, where a test waits for what is polled. */
export const OFTEN = '* * * * * *';
export const POLL_OFTEN = {
  holdingsSchedule: OFTEN,
  tradesSchedule: OFTEN,
  transactionsSchedule: OFTEN,
  tpslSchedule: OFTEN,
  statsSchedule: OFTEN,
  activitySchedule: OFTEN,
  requestsPerSecond: 200,
} as const;

/** Account records of a kind, in the order of their session. */
export async function recordsOfKind(rig: Pick<CollectorRig, 'records'>, kind: RecordKind): Promise<RawRecord[]> {
  return (await rig.records(TOPICS.account)).filter((record) => record.kind === kind);
}

/** What the successful answers among the records list, in order. */
export function listed<T>(
  records: readonly RawRecord[],
  decode: (body: LosslessJson) => DecodedList<T> | InvalidBody,
): { item: T; record: RawRecord }[] {
  return records
    .filter(({ request: req, encoding: enc }) => req['status'] === 200 && enc === undefined)
    .flatMap((record) => {
      const list = decode(parseLossless(JSON.stringify(record.body)));
      return list.ok ? list.items.map((item) => ({ item, record })) : [];
    });
}
