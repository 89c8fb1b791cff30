import { UnavailableError, UsageError } from '../core/index.js';

/** A change of a market in the exchange's ledger; prices are 0..1, `b` 0 and `a` 1 mean an empty side. */
export interface LedgerPrice {
  readonly seq: number;
  readonly eventId: string;
  readonly marketId: string;
  /** Last trade price, before the first trade the opening chance; in YES terms, as best bid and best ask. */
  readonly c: number;
  readonly b: number;
  readonly a: number;
  /** Unix microseconds. */
  readonly at: number;
}

/** A fill in the ledger. For a minted or merged pair, price and sides are in YES terms. */
export interface LedgerFill {
  readonly seq: number;
  readonly tradeId: string;
  readonly eventId: string;
  readonly marketId: string;
  readonly assetId: string;
  readonly price: number;
  readonly quantity: number;
  readonly takerFee: number;
  readonly taker: 'buyer' | 'seller';
  readonly buyer: string;
  readonly seller: string;
  readonly kind: 'transfer' | 'mint' | 'merge';
  /** Unix microseconds. */
  readonly at: number;
}

export interface LedgerAccount {
  readonly userId: string;
  /** Total, including what orders lock. */
  readonly usdc: number;
  readonly locked: number;
  readonly positions: readonly { readonly assetId: string; readonly shares: number; readonly cost: number }[];
  readonly realisedPnl: number;
  readonly feesPaid: number;
}

export interface LedgerMarket {
  readonly marketId: string;
  readonly eventId: string;
  readonly assets: { readonly yes: string; readonly no: string };
  readonly openingChance: number;
  /** VOID: every share is worth half a USDC. */
  readonly resolved: 'YES' | 'NO' | 'VOID' | null;
  /** When that was paid, Unix microseconds; the simulated exchange voids no market. */
  readonly voidedAt?: number;
}

export interface LedgerTotals {
  readonly accounts: readonly LedgerAccount[];
  readonly markets: readonly LedgerMarket[];
  readonly identity: {
    readonly deposits: number;
    readonly withdrawals: number;
    readonly free: number;
    readonly locked: number;
    readonly backing: number;
    readonly fees: number;
  };
}

/** A fault that the exchange applied. */
export interface UsedFault {
  readonly id: number;
  readonly kind: string;
  readonly stream: string;
  readonly eventId?: string;
  /** Unix microseconds. */
  readonly at: number;
}

export interface FaultRequest {
  readonly kind: string;
  readonly stream: string;
  readonly count: number;
  readonly ms?: number;
}

/** The exchange's own ledger. */
export interface Ledger extends LedgerTotals {
  readonly prices: readonly LedgerPrice[];
  readonly fills: readonly LedgerFill[];
}

const TIMEOUT_MS = 60_000;

/** The control interface of the simulated exchange. */
export class ControlInterface {
  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  async ledger(): Promise<Ledger> {
    const [totals, prices, fills] = await Promise.all([
      this.#get('/truth'),
      this.#get('/truth/prices?after=0'),
      this.#get('/truth/trades?after=0'),
    ]);
    return {
      ...(JSON.parse(totals) as LedgerTotals),
      prices: jsonLines<LedgerPrice>(prices),
      fills: jsonLines<LedgerFill>(fills),
    };
  }

  /** While trading is closed, orders are refused, and no event opens or ends. */
  async setTrading(open: boolean): Promise<void> {
    await this.#send('POST', '/trading', { open });
  }

  async arm(fault: FaultRequest): Promise<void> {
    await this.#send('POST', '/faults', { ...fault, target: 'not-bots' });
  }

  async faults(): Promise<{ armed: readonly { readonly id: number }[]; used: readonly UsedFault[] }> {
    return JSON.parse(await this.#get('/faults'));
  }

  #get(path: string): Promise<string> {
    return this.#send('GET', path);
  }

  async #send(method: string, path: string, body?: unknown): Promise<string> {
    const call = `${method} /_control${path}`;
    const response = await fetch(`${this.url.replace(/\/+$/, '')}/_control${path}`, {
      method,
      headers: {
        'X-Control-Token': this.token,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((cause: unknown) => {
      throw new UnavailableError(`the exchange at ${this.url} does not answer ${call}`, { cause });
    });
    const text = await response.text();
    if (response.status === 401) {
      throw new UsageError(`the exchange at ${this.url} refuses the control token; its ready line has the right one`);
    }
    if (response.status === 404) throw new UsageError(`the exchange at ${this.url} has no control call ${call}`);
    if (!response.ok) throw new UnavailableError(`the exchange at ${this.url} answered ${response.status} to ${call}`);
    return text;
  }
}

const jsonLines = <T>(text: string): T[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
