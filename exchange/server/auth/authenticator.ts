import type { IncomingHttpHeaders } from 'node:http';
import { API_KEY_HEADERS } from '../../../client/wire/index.js';
import type { Clock } from '../../../core/index.js';
import type { ExchangeCore } from '../../engine/index.js';
import { HttpError } from '../errors.js';
import { KeyCheck, type KeyClaim, type KeyHolder } from './key-check.js';
import type { Tokens } from './tokens.js';

/** Required credentials of a route: none, an API key, a JWT, or the control token. */
export type Access = 'public' | 'api-key' | 'jwt' | 'control';

/** The parts of a request that come before its body. */
interface RequestHead {
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** How far the clock that checks a signature is ahead, milliseconds. */
  readonly skewMs: number;
}

/** A request whose head passed the checks. */
export interface Admission {
  /** Present when the body is signed: takes every chunk of it, unchanged. */
  readonly signed?: { update(chunk: Buffer): void };
  /** User ID of the caller, once the body is complete; undefined on public routes. @throws HttpError 401, 403 */
  finish(): string | undefined;
}

const HEADERS = {
  key: API_KEY_HEADERS.key.toLowerCase(),
  signature: API_KEY_HEADERS.signature.toLowerCase(),
  timestamp: API_KEY_HEADERS.timestamp.toLowerCase(),
};
const PUBLIC_REQUEST: Admission = { finish: () => undefined };

/** Authenticates requests by API key and signature, or by JWT (part 5). */
export class Authenticator {
  constructor(
    private readonly core: Pick<ExchangeCore, 'apiKeyHolder' | 'credentials'>,
    private readonly tokens: Tokens,
    private readonly clock: Clock,
  ) {}

  /**
   * Checks the credentials in the head; synchronous except for a Bearer token.
   * @throws HttpError 400 for both kinds of credentials at once, 401 for credentials that are missing or wrong; or rejects
   * with it
   */
  authenticate(access: Exclude<Access, 'control'>, head: RequestHead): Admission | Promise<Admission> {
    const claim = claimOf(head.headers);
    const bearer = bearerOf(head.headers);
    if (claim && bearer !== undefined) throw new HttpError(400, 'an API key and a Bearer token were sent; send one');
    if (access === 'public') return PUBLIC_REQUEST;
    if (claim) return this.#byKey(access, head, claim);
    if (access === 'api-key')
      throw new HttpError(401, `the headers ${Object.values(API_KEY_HEADERS).join(', ')} are required`);
    return this.#byToken(bearer);
  }

  /** Authenticates the AUTH message of a private stream (part 5.5). @throws HttpError 401, 403 */
  authenticateStream(path: string, claim: KeyClaim): KeyHolder {
    return new KeyCheck(this.core, this.clock, claim, `GET${path}`).finish();
  }

  async #byToken(bearer: string | undefined): Promise<Admission> {
    const userId = bearer === undefined ? undefined : await this.tokens.subject(bearer);
    if (userId === undefined || !this.core.credentials(userId)) {
      throw new HttpError(401, 'a Bearer token of POST /auth/login is required; it is valid for one hour');
    }
    return { finish: () => userId };
  }

  #byKey(access: 'api-key' | 'jwt', { method, path, skewMs }: RequestHead, claim: KeyClaim): Admission {
    const clock = skewMs === 0 ? this.clock : clockAhead(this.clock, skewMs);
    const check = new KeyCheck(this.core, clock, claim, `${method}${path}`);
    const finish = () => {
      const { userId } = check.finish();
      if (access === 'jwt') throw new HttpError(403, 'this needs the Bearer token of a login, not an API key');
      return userId;
    };
    return { signed: check, finish };
  }
}

const clockAhead = (clock: Clock, ms: number): Pick<Clock, 'nowMs' | 'nowMicros'> => ({
  nowMs: () => clock.nowMs() + ms,
  nowMicros: () => clock.nowMicros() + ms * 1000,
});

/** The API-key headers; undefined when none of them was sent. */
function claimOf(headers: IncomingHttpHeaders): KeyClaim | undefined {
  const read = (name: string): string | undefined => {
    const value = headers[name];
    return Array.isArray(value) ? value.join() : value;
  };
  const [key, signature, timestamp] = [read(HEADERS.key), read(HEADERS.signature), read(HEADERS.timestamp)];
  if (key === undefined && signature === undefined && timestamp === undefined) return undefined;
  return { key: key ?? '', signature: signature ?? '', timestamp: timestamp ?? '' };
}

/** The token of a Bearer header, which may be empty; undefined when there is no such header. */
function bearerOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  const match = /^bearer(?:$|\s+(.*))/i.exec(authorization);
  return match ? (match[1] ?? '') : undefined;
}
