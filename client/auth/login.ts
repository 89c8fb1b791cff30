import { Secret } from '../../core/index.js';
import { decodeLogin, type Login } from '../decode/account/api-key.js';
import { SchemaError } from '../errors/index.js';
import type { ExchangeClient } from '../exchange-client.js';
import { parseJson } from '../requester.js';
import type { TokenSource } from './authorizer.js';

/** A field of the login: a text, a secret, or a function that returns one per login, such as a one-time code. */
export type LoginField = string | Secret | (() => Secret | Promise<Secret>);

/**
 * The body of `POST /auth/login`, which the interface does not describe: the fields that the exchange requires. The
 * simulated exchange takes `{ email, password, otp? }`.
 */
export type LoginFields = Readonly<Record<string, LoginField>>;

/**
 * `POST /auth/login`, part 4.1. Request and response are neither recorded nor shown in errors.
 * @throws UnauthorizedError when the exchange does not accept the fields; TransportError, HttpStatusError, SchemaError
 */
export async function login(exchange: ExchangeClient, fields: LoginFields, signal?: AbortSignal): Promise<Login> {
  const secrets: Secret[] = [];
  const body: Record<string, string> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = typeof field === 'function' ? await field() : field;
    const secret = value instanceof Secret ? value : new Secret(value);
    secrets.push(secret);
    body[name] = secret.reveal();
  }
  const path = '/auth/login';
  const { value } = await exchange.requester.send(
    { name: 'login', method: 'POST', path, body: JSON.stringify(body), secrets, parse: parseJson },
    signal,
  );
  const decoded = decodeLogin(value);
  if (!decoded.ok) throw new SchemaError(`login POST ${path}`, decoded.path, decoded.reason);
  return decoded;
}

/** A token is renewed this long before it expires, milliseconds. */
const RENEW_BEFORE_MS = 10_000;

/** Logs in when a token is first needed, and again when the token has expired or was rejected. */
export class LoginSession implements TokenSource {
  #login: Login | undefined;
  #loggingIn: Promise<Login> | undefined;

  constructor(
    private readonly exchange: ExchangeClient,
    private readonly fields: LoginFields,
  ) {}

  /** Rejects as `login` does. Concurrent calls share one login; a signal aborts only the wait of its own call. */
  async token(signal?: AbortSignal): Promise<Secret> {
    signal?.throwIfAborted();
    const held = this.#login;
    if (held && !this.#isExpired(held)) return held.token;
    this.#loggingIn ??= this.#logIn();
    const { token } = await withSignal(this.#loggingIn, signal);
    return token;
  }

  refused(token: Secret): boolean {
    if (this.#login?.token === token) this.#login = undefined;
    return true;
  }

  async #logIn(): Promise<Login> {
    try {
      this.#login = await login(this.exchange, this.fields);
      return this.#login;
    } finally {
      this.#loggingIn = undefined;
    }
  }

  #isExpired({ expiresAtMicros }: Login): boolean {
    const { serverTime } = this.exchange.requester;
    return expiresAtMicros !== null && expiresAtMicros / 1000 - serverTime.nowSeconds() * 1000 < RENEW_BEFORE_MS;
  }
}

function withSignal<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
