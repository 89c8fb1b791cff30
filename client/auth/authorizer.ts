import { Secret, UsageError } from '../../core/index.js';
import type { ServerTime } from '../server-time.js';
import { TIMESTAMP_WINDOW_SECONDS } from '../wire/index.js';
import type { ApiKey, Signable } from './api-key.js';

/** The credentials that an operation requires, parts 5.2 and 5.3. */
export type AuthMethod = 'api-key' | 'jwt';

/** A source of JWTs. */
export interface TokenSource {
  /** The current token. Rejects when none is available. */
  token(signal?: AbortSignal): Promise<Secret>;
  /** Call when the exchange rejected this token (401). True when the next `token` call returns another one. */
  refused(token: Secret): boolean;
}

/** An account's credentials. A request carries one of the two, never both (part 5.1, rule 6). */
export interface Credentials {
  readonly apiKey?: ApiKey | undefined;
  /** A token, or a source of tokens such as `LoginSession`. */
  readonly jwt?: Secret | TokenSource | undefined;
}

/** The credentials of one request. */
export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  /** After a 401: whether the same request with new credentials may be accepted. */
  mayRetry(): boolean;
}

/** Adds credentials to requests. */
export interface Authorizer {
  /** Secrets to remove from response bodies and error messages. */
  readonly secrets: readonly Secret[];
  /** Called before every request, before it waits for the rate limit. */
  prepare(signal: AbortSignal | undefined): Promise<void>;
  /** Called right before a request is sent. */
  authorize(request: Signable): Authorization;
}

/** @throws UsageError when the credentials lack the API key or JWT that the operation requires */
export function authorizerOf(
  credentials: Credentials,
  method: AuthMethod,
  serverTime: ServerTime,
  operation: string,
): Authorizer {
  if (method === 'api-key') {
    if (credentials.apiKey) return new KeyAuthorizer(credentials.apiKey, serverTime);
    throw new UsageError(`${operation} requires an API key; add one to the credentials`);
  }
  const { jwt } = credentials;
  if (jwt === undefined)
    throw new UsageError(`${operation} requires a JWT; add one, or a LoginSession, to the credentials`);
  return new TokenAuthorizer(jwt instanceof Secret ? { token: async () => jwt, refused: () => false } : jwt);
}

class KeyAuthorizer implements Authorizer {
  constructor(
    private readonly apiKey: ApiKey,
    private readonly serverTime: ServerTime,
  ) {}

  get secrets(): readonly Secret[] {
    return [this.apiKey.secret];
  }

  async prepare(): Promise<void> {}

  authorize(request: Signable): Authorization {
    const timestamp = this.serverTime.nowSeconds();
    return {
      headers: this.apiKey.headers(request, timestamp),
      // The response's `Date` header corrected the server time: the timestamp was outside the window and now is not.
      mayRetry: () => Math.abs(this.serverTime.nowSeconds() - timestamp) >= TIMESTAMP_WINDOW_SECONDS - 1,
    };
  }
}

class TokenAuthorizer implements Authorizer {
  #token: Secret | undefined;

  constructor(private readonly source: TokenSource) {}

  get secrets(): readonly Secret[] {
    return this.#token ? [this.#token] : [];
  }

  async prepare(signal: AbortSignal | undefined): Promise<void> {
    const token = await this.source.token(signal);
    if (!/^[\x21-\x7e]+$/.test(token.reveal())) {
      throw new UsageError('the JWT is invalid; give it without spaces and line breaks');
    }
    this.#token = token;
  }

  authorize(): Authorization {
    const token = this.#token;
    if (!token) throw new Error('authorize before prepare');
    return {
      headers: { authorization: `Bearer ${token.reveal()}` },
      mayRetry: () => this.source.refused(token),
    };
  }
}
