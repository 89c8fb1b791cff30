import type { CollectorEvent, RecordKind } from '../../../core/index.js';
import type { RecordQueue } from './record-queue.js';

/** Accounts whose records go to partitions of both shards. */
const ACCOUNTS: readonly string[] = ['alice', 'bob', 'carol'];

export interface AccountsOptions {
  readonly sessionId: string;
  /** Unix seconds of the first round of polls. */
  readonly from: number;
  readonly event: string;
  readonly markets: readonly string[];
}

/** The responses of a poll: one body per page. */
interface Answer {
  readonly kind: RecordKind;
  readonly operation: string;
  readonly pages: readonly unknown[];
  readonly asset?: string;
  readonly path?: string;
}

/**
 * The records of three accounts that trade with each other: three rounds of every poll, each a minute after the previous
 * one with small differences, the last one aborted before its second page, and frames of both private streams. The
 * activity feed is polled with the key of any account, so its items are on several partitions.
 */
export function pushAccounts(queue: RecordQueue, options: AccountsOptions): void {
  for (const account of ACCOUNTS) {
    for (const round of [0, 1, 2]) {
      const polls = new AccountPolls(queue, options, { account, round });
      for (const answer of [...polls.histories(), ...polls.holdings(), ...polls.figures()]) polls.answered(answer);
      polls.frames();
    }
  }
}

class AccountPolls {
  readonly #account: string;
  readonly #round: number;
  readonly #at: number;
  readonly #market: string;
  readonly #yes: string;
  readonly #no: string;

  constructor(
    private readonly queue: RecordQueue,
    private readonly options: AccountsOptions,
    { account, round }: { account: string; round: number },
  ) {
    this.#account = account;
    this.#round = round;
    this.#at = options.from + 60 * round;
    const [market = ''] = options.markets;
    this.#market = market;
    this.#yes = `yes-${market}`;
    this.#no = `no-${market}`;
  }

  /** Records with an ID: every round has those of the previous one, and one more. */
  histories(): Answer[] {
    const { event } = this.options;
    const fills = Array.from({ length: 4 + this.#round }, (_, n) => this.#fill(n)).reverse();
    const half = Math.ceil(fills.length / 2);
    const pages = [fills.slice(0, half), fills.slice(half)].map((items) => ({ i: items, s: half, tp: 2 }));
    const filled = 10 + this.#round;
    const order = { si: 'BUY', t: 'LIMIT', p: 0.41, oq: 30, q: filled, st: filled > 11 ? 'FILLED' : 'ACTIVE' };
    const position = { e: event, o: this.#market, a: this.#yes };
    const payout = {
      i: this.#id('x1'),
      t: 'PAYOUT',
      a: `yes-${this.options.markets[2] ?? ''}`,
      am: 1.5,
      cat: '2026-01-02',
    };
    const deposit = { i: this.#id('x2'), t: 'DEPOSIT', a: 'usdc', am: 1000, s: this.#round ? 'COMPLETED' : 'PENDING' };
    return [
      { kind: 'account.trades', operation: 'trades', pages },
      { kind: 'account.orders', operation: 'orders', pages: [{ i: [{ i: this.#id('o1'), ...order, ...position }] }] },
      {
        kind: 'account.transactions',
        operation: 'transactions',
        pages: [{ i: [{ ...payout, s: 'COMPLETED' }, deposit] }],
      },
      { kind: 'account.activity', operation: 'activity', pages: [{ i: this.#activity() }] },
    ];
  }

  /** Lists of current items, complete or not. */
  holdings(): Answer[] {
    const { event } = this.options;
    const position = (asset: string, shares: number) => {
      const tpsl = [{ i: this.#id(`attached-${asset}`), q: 1, tpp: 0.9 }];
      return { ai: asset, ei: event, eoi: this.#market, tsc: shares, c: 5.25, v: 5.5, pv: 0.25, tpsl };
    };
    const positions = [position(this.#yes, 11 + this.#round), position(this.#no, 3)].map((one) => ({
      i: [one],
      tp: 2,
    }));
    const active = { id: this.#id('o2'), status: 'ACTIVE', price: 0.4, quantity: 7 + this.#round };
    const balances = [
      { i: 'usdc', b: 1000 - this.#round, f: 900, n: 'USD Coin', sn: 'USDC', v: 1000 },
      { i: this.#round ? this.#no : this.#yes, b: 11 + this.#round },
    ];
    const tpsl = [{ i: this.#id('tpsl'), q: 2 + this.#round, tpp: 0.9, slp: 0.1 }];
    return [
      { kind: 'account.positions', operation: 'open-positions', pages: positions },
      { kind: 'account.active-orders', operation: 'active-orders', pages: [{ i: [active] }, { i: [] }] },
      { kind: 'account.balances', operation: 'full-balances', pages: [balances, []] },
      { kind: 'account.tpsl-orders', operation: 'tpsl-orders', asset: this.#yes, pages: [tpsl, []] },
    ];
  }

  figures(): Answer[] {
    const user = `user-${this.#account}`;
    const profile = { userId: user, username: this.#account, joinedAt: '2026-01-01T00:00:00Z', me: true };
    const cards = { positionValue: 1.5, volumeTraded: 20 + this.#round, marketsTraded: 2 };
    const path = `/api/history/stats/profile/${user}/positions`;
    return [
      { kind: 'account.profile-stats', operation: 'profile-stats', pages: [{ profile, cards }] },
      {
        kind: 'account.position-stats',
        operation: 'position-stats',
        path,
        pages: [{ tab: 'active', ti: 2 + this.#round }],
      },
    ];
  }

  frames(): void {
    const update = { i: this.#id('o1'), u: this.#account, s: 'SUCCESS' };
    const tpsl = { i: this.#id('tpsl'), a: this.#yes, q: 2, tpp: 0.9, slp: 0.1, s: 'ACTIVE' };
    this.#frame('account.order-frame', 'orders', { t: 'ORDER_UPDATE', d: update });
    this.#frame('account.order-frame', 'orders', { t: 'TPSL_UPDATE', d: tpsl });
    const list = [{ i: 'usdc', b: 1000, f: 900 - this.#round }];
    this.#frame('account.balance-frame', 'balance', { t: 'success', d: { l: list }, r: null });
    this.#frame('account.balance-frame', 'balance', {
      u: this.#account,
      a: this.#yes,
      c: 5,
      b: 11 + this.#round,
      f: 0,
    });
  }

  /** Appends a poll to the bus, page by page, with its receipt; the last round ends before its second page. */
  answered({ kind, operation, pages, ...asked }: Answer): void {
    const poll = `${operation}-${this.#account}-${this.#round}`;
    const broken = this.#round === 2;
    const got = broken ? pages.slice(0, 1) : pages;
    const owner = kind === 'account.activity' ? {} : { account: this.#account };
    for (const [page, body] of got.entries()) {
      const req = { operation, method: 'GET', path: '/', status: 200, attempt: 0, poll, page, ...owner, ...asked };
      this.#push(kind, this.#at + page / 10, req, body);
    }
    const subject = kind === 'account.activity' ? 'activity' : this.#account;
    const receipt: CollectorEvent = {
      ...{
        type: 'poll',
        pollId: poll,
        operation,
        subject,
        startedAt: this.#at * 1_000_000,
        cause: broken ? 'reset' : '',
      },
      ...{ expectedItems: 2, receivedItems: 2, distinctItems: 2, pages: got.length, truncated: false },
      outcome: broken ? 'incomplete' : 'complete',
    };
    this.queue.push('collector.event', {
      key: this.options.sessionId,
      sessionId: this.options.sessionId,
      at: this.#at + 1,
      req: {},
      body: receipt,
    });
  }

  /** A fill of this account; the first of them was with the next account, so both have the same `t`. */
  #fill(n: number) {
    const { event, from } = this.options;
    const sold = n % 3 === 2;
    return {
      ...{ i: this.#id(`r${n}`), t: n === 0 ? 'shared' : this.#id(`t${n}`), u: this.#account, or: this.#id('o1') },
      ...{ s: sold ? 'SELL' : 'BUY', e: event, o: this.#market, a: n === 3 ? this.#no : this.#yes },
      ...{ q: 10 + n, p: (40 + n) / 100, f: 0.01, m: new Date((from - 600 + n) * 1000).toISOString() },
    };
  }

  /** Trades of all users, ours included; their volumes differ in every poll. */
  #activity() {
    return Array.from({ length: 6 }, (_, n) => ({
      ...{
        tra: n < 2 ? `r${n}-alice` : `other-${n}`,
        u: `user-${n}`,
        n: `name ${n}`,
        // The last one is in the market that was paid out.
        oi: n < 5 ? this.#market : (this.options.markets[2] ?? this.#market),
        on: 'Rain',
        p: 'YES',
      },
      ...{
        si: 'BUY',
        q: 5 + n,
        x: new Date((this.options.from - 600) * 1000).toISOString(),
        pr: 0.4,
        tn: 'YES',
        ip: true,
      },
      ...{ ev: 100 * this.#at + ACCOUNTS.indexOf(this.#account), uv: 7 },
    }));
  }

  #frame(kind: RecordKind, stream: string, body: unknown): void {
    this.#push(kind, this.#at + 2, { stream, connection: `${stream}-${this.#account}`, account: this.#account }, body);
  }

  /** No two accounts are polled at the same moment: of two records with one ID and time, either may count. */
  #push(kind: RecordKind, at: number, req: object, body: unknown): void {
    const moment = at + ACCOUNTS.indexOf(this.#account) / 100;
    this.queue.push(kind, { key: this.#account, sessionId: this.options.sessionId, at: moment, req, body });
  }

  #id(name: string): string {
    return `${name}-${this.#account}`;
  }
}
