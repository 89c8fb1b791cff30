import { Secret, UsageError } from '../../core/index.js';
import type { ServerTime } from '../server-time.js';
import { TIMESTAMP_WINDOW_SECONDS } from '../wire/index.js';
import type { ApiKey, Signable } from './api-key.js';

/** Who may call an operation, parts 5.2 and 5.3. */
export type AuthMethod = 'api-key' | 'jwt';

/** Where JWTs come from. */
export interface TokenSource {
  /** The token to use now. Rejects when none can be had. */
  token(signal?: AbortSignal): Promise<Secret>;
  /** The exchange refused this token (401); true when `token` would answer another one. */
  refused(token: Secret): boolean;
}

/** What an account's calls are made with. One request carries one of the two, never both (part 5.1, rule 6). */
export interface Credentials {
  readonly apiKey?: ApiKey | undefined;
  /** A token, or what gets one, like a `LoginSession`. */
  readonly jwt?: Secret | TokenSource | undefined;
}

/** The credentials of one request. */
export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  /** The exchange answered 401: whether another request, authorized anew, may be accepted. */
  mayRetry(): boolean;
}

/** Puts credentials on requests. */
export interface Authorizer {
  /** What must not be shown, wherever the exchange may repeat it. */
  readonly secrets: readonly Secret[];
  /** Called before every request, and before it waits for its turn. */
  prepare(signal: AbortSignal | undefined): Promise<void>;
  /** Called right before a request is sent. */
  authorize(request: Signable): Authorization;
}

/** @throws UsageError when the credentials hold nothing for this access */
export function authorizerOf(
  credentials: Credentials,
  access: AuthMethod,
  serverTime: ServerTime,
  operation: string,
): Authorizer {
  if (access === 'api-key') {
    if (credentials.apiKey) return new KeyAuthorizer(credentials.apiKey, serverTime);
    throw new UsageError(`${operation} needs an API key; give credentials with one`);
  }
  const { jwt } = credentials;
  if (jwt === undefined) throw new UsageError(`${operation} needs a JWT; give credentials with one, or a login`);
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
      // The refusal itself told the server's time: ours was out of the window, and now is not.
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
      throw new UsageError('the JWT is not one; give it without spaces or breaks');
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
