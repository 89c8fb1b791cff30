import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Answer, ExchangeConnection } from '../support/exchange-connection.js';
import type { TestSocket } from '../support/test-socket.js';

/** What accounts and markets use of an exchange. */
export type Target = Pick<ExchangeConnection, 'url' | 'request' | 'control' | 'connect'>;

export interface Key {
  readonly key: string;
  readonly secret: string;
}

/** What a signed request may have wrong. */
export interface Wrong {
  readonly timestamp?: string;
  readonly signature?: string;
  /** Signed instead of the sent text. */
  readonly message?: string;
  readonly headers?: Record<string, string | undefined>;
}

export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** The signature of part 5.1, implemented independently of client and exchange. */
export function sign(secret: string, message: string): string {
  const padded = secret.replaceAll('-', '+').replaceAll('_', '/');
  const digest = createHmac('sha256', Buffer.from(padded, 'base64')).update(message).digest('base64');
  return digest.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** The AUTH message of part 5.5. */
export function authMessage({ key, secret }: Key, path: string, timestamp = String(nowSeconds())) {
  return { t: 'AUTH', d: { apiKey: key, signature: sign(secret, `${timestamp}GET${path}`), timestamp } };
}

/** An account of the exchange, from its owner's view. */
export class Account {
  constructor(
    readonly target: Target,
    readonly userId: string,
    readonly email: string,
    readonly password: string,
    public key: Key,
    /** The fixed second factor, where there is one. */
    readonly otp: string | undefined = undefined,
    /** The account's estimate of the exchange's time, Unix seconds. */
    private readonly now: () => number = nowSeconds,
  ) {}

  /** A signed request; a text body is sent unchanged. */
  signed(method: string, path: string, body?: unknown, wrong: Wrong = {}): Promise<Answer> {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const timestamp = wrong.timestamp ?? String(this.now());
    const message = wrong.message ?? `${timestamp}${method}${path.split('?')[0]}${text}`;
    const given: Record<string, string | undefined> = {
      'SERVICE-API-KEY': this.key.key,
      'SERVICE-API-SIGNATURE': wrong.signature ?? sign(this.key.secret, message),
      'SERVICE-API-TIMESTAMP': timestamp,
      ...wrong.headers,
    };
    const headers = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return this.target.request(method, path, { headers, ...(text === '' ? {} : { body: text }) });
  }

  get(path: string): Promise<Answer> {
    return this.signed('GET', path);
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.signed('POST', path, body);
  }

  delete(path: string): Promise<Answer> {
    return this.signed('DELETE', path);
  }

  async login(): Promise<string> {
    const { email, password, otp } = this;
    const body = JSON.stringify({ email, password, ...(otp === undefined ? {} : { otp }) });
    const answer = await this.target.request('POST', '/auth/login', { body });
    if (answer.status !== 200) throw new Error(`login answered ${answer.text}`);
    return answer.body.token;
  }

  /** A request with a fresh JWT, or the given one. */
  async bearer(method: string, path: string, body?: unknown, token?: string): Promise<Answer> {
    const Authorization = `Bearer ${token ?? (await this.login())}`;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.target.request(method, path, {
      headers: { Authorization },
      ...(text === undefined ? {} : { body: text }),
    });
  }

  /** A new confirmation code, from send-code and the mailbox. */
  async code(token?: string): Promise<string> {
    await this.bearer('POST', '/auth/api-key/send-code', undefined, token);
    const { body } = await this.target.control('GET', `/mailbox?email=${encodeURIComponent(this.email)}`);
    return body.code;
  }

  /** The complete lifecycle of part 5.4; the new key is used afterwards. */
  async newKey(more: { expiresAt?: string | null } = {}): Promise<Answer> {
    const token = await this.login();
    const { otp } = this;
    const body = { code: await this.code(token), ...(otp === undefined ? {} : { otp }), ...more };
    const answer = await this.bearer('POST', '/auth/api-key', body, token);
    if (answer.status !== 200) throw new Error(`creating a key answered ${answer.text}`);
    this.key = answer.body;
    return answer;
  }

  /** A private stream that was let in, and its answer to AUTH. */
  // biome-ignore lint/suspicious/noExplicitAny: frames are looked into by hand, field by field
  async stream(path: '/order/ws' | '/balance/ws'): Promise<{ socket: TestSocket; greeting: any }> {
    const socket = await this.target.connect(path);
    let greeting = await socket.ask(authMessage(this.key, path, String(this.now())));
    while (greeting.t === 'PING') greeting = await socket.next();
    if (greeting.t !== 'success') throw new Error(`AUTH answered ${JSON.stringify(greeting)}`);
    return { socket, greeting };
  }
}

/** Opens an account with an API key, over HTTP alone. */
export async function openAccount(
  target: Target,
  options: { usdc?: number; otp?: boolean; now?: () => number } = {},
): Promise<Account> {
  const { usdc = 1000, otp = false, now } = options;
  const [email, password] = [`${randomUUID()}@test.example`, `pass ${randomUUID()}`];
  const opened = await target.control('POST', '/accounts', { email, password, usdc, ...(otp ? { otp } : {}) });
  if (opened.status !== 200) throw new Error(`opening an account answered ${opened.text}`);
  const account = new Account(
    target,
    opened.body.userId,
    email,
    password,
    { key: '', secret: '' },
    opened.body.otp,
    now,
  );
  await account.newKey();
  return account;
}

export interface TestMarket {
  readonly eventId: string;
  readonly marketId: string;
  readonly title: string;
  readonly slug: string;
  readonly name: string;
  readonly yes: string;
  readonly no: string;
}

/** Opens an event with markets of these chances. */
export async function openMarkets(target: Target, ...chances: number[]): Promise<TestMarket[]> {
  const categories = await target.request('GET', '/api/categories');
  const title = `Event ${randomUUID()}`;
  const markets = chances.map((chance, n) => ({ name: `Market ${n}`, chance }));
  const { body, status, text } = await target.control('POST', '/events', {
    title,
    category: categories.body[0].s,
    tags: ['test'],
    markets,
  });
  if (status !== 200) throw new Error(`opening an event answered ${text}`);
  return body.outcomes.map((o: { marketId: string; yesId: string; noId: string; name: string }) => ({
    eventId: body.id,
    marketId: o.marketId,
    title,
    slug: body.slug,
    name: o.name,
    yes: o.yesId,
    no: o.noId,
  }));
}

export async function openMarket(target: Target, chance = 0.5): Promise<TestMarket> {
  const [market] = await openMarkets(target, chance);
  if (!market) throw new Error('no market was opened');
  return market;
}

/** The ID of the USDC coin. */
export async function usdcOf(target: Target): Promise<string> {
  const { body } = await target.request('GET', '/api/coins');
  return body.find((coin: { sn: string }) => coin.sn === 'USDC').i;
}

/** Places orders in one market by few words. */
export class Book {
  private constructor(
    readonly market: TestMarket,
    readonly usdc: string,
  ) {}

  static async open(target: Target, chance = 0.5): Promise<Book> {
    return new Book(await openMarket(target, chance), await usdcOf(target));
  }

  /** The fields that every order names. */
  target(outcome: 'YES' | 'NO') {
    const { eventId, marketId, yes, no } = this.market;
    return { e: eventId, o: marketId, ba: outcome === 'YES' ? yes : no, qa: this.usdc };
  }

  async limit(account: Account, s: 'BUY' | 'SELL', outcome: 'YES' | 'NO', p: number, q: number): Promise<string> {
    return placedId(await account.post('/orders/limit', { ...this.target(outcome), s, p, q }));
  }

  async buy(account: Account, outcome: 'YES' | 'NO', am: number): Promise<string> {
    return placedId(await account.post('/orders/market', { ...this.target(outcome), s: 'BUY', am }));
  }

  async sell(account: Account, outcome: 'YES' | 'NO', q: number): Promise<string> {
    return placedId(await account.post('/orders/market', { ...this.target(outcome), s: 'SELL', q }));
  }

  async tpsl(account: Account, i: 'YES' | 'NO', q: number, prices: { t?: number; l?: number }): Promise<string> {
    return placedId(await account.post('/orders/tpsl', { ...this.target(i), i, s: 'SELL', q, ...prices }));
  }

  /** One account gets YES shares and the other NO shares, minted at a price of YES. */
  async mint(yes: Account, no: Account, p: number, q: number): Promise<void> {
    await this.limit(no, 'BUY', 'NO', Math.round(100 - p * 100) / 100, q);
    await this.limit(yes, 'BUY', 'YES', p, q);
  }
}

function placedId({ status, body, text }: Answer): string {
  if (status !== 200) throw new Error(`an order answered ${text}`);
  return body.i;
}

/** `[status, error, message]` of an error answer, whose body must be that of part 7.1. */
export function failure({ status, body, text }: Answer): [number, string] {
  if (body === undefined || Object.keys(body).sort().join() !== 'error,message,status' || body.status !== status) {
    throw new Error(`no error body: ${status} ${text}`);
  }
  return [status, body.message];
}

export const statusOf = (answer: Answer): number => failure(answer)[0];

/** A bare WebSocket, for what `TestSocket` would not do. */
export async function bareSocket(target: Target, path: string): Promise<WebSocket> {
  const socket = new WebSocket(`${target.url.replace('http', 'ws')}${path}`, { perMessageDeflate: false });
  await once(socket, 'open');
  return socket;
}
