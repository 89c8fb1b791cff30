import type { IncomingHttpHeaders } from 'node:http';
import { API_KEY_HEADERS } from '../../../client/wire/index.js';
import type { Clock } from '../../../core/index.js';
import type { ExchangeCore } from '../../engine/index.js';
import { HttpError } from '../errors.js';
import { KeyCheck, type KeyClaim, type KeyHolder } from './key-check.js';
import type { Tokens } from './tokens.js';

/** Who may call: anybody, the holder of an API key, of a JWT, or of the control token. */
export type Access = 'public' | 'api-key' | 'jwt' | 'control';

/** The parts of a request that come before its body. */
interface RequestHead {
  readonly method: string;
  /** As it was sent, without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** A request whose head was found in order. */
export interface Admission {
  /** There when the body is signed: takes every piece of it, exactly as it came. */
  readonly signed?: { update(chunk: Buffer): void };
  /** Who calls, once the body is complete; undefined where nobody has to say. @throws HttpError 401, 403 */
  finish(): string | undefined;
}

const HEADERS = {
  key: API_KEY_HEADERS.key.toLowerCase(),
  signature: API_KEY_HEADERS.signature.toLowerCase(),
  timestamp: API_KEY_HEADERS.timestamp.toLowerCase(),
};
const ANYBODY: Admission = { finish: () => undefined };

/** Decides who may call what, part 5: by API key and signature, or by JWT. */
export class Authenticator {
  constructor(
    private readonly core: Pick<ExchangeCore, 'apiKeyHolder' | 'credentials'>,
    private readonly tokens: Tokens,
    private readonly clock: Clock,
  ) {}

  /** @throws HttpError 400 for both kinds of credentials at once, 401 for what the head alone shows to be wrong */
  async admit(access: Exclude<Access, 'control'>, head: RequestHead): Promise<Admission> {
    const claim = claimOf(head.headers);
    const bearer = bearerOf(head.headers);
    if (claim && bearer !== undefined) throw new HttpError(400, 'an API key and a Bearer token were sent; send one');
    if (access === 'public') return ANYBODY;
    if (claim) return this.#byKey(access, head, claim);
    if (access === 'api-key')
      throw new HttpError(401, `the headers ${Object.values(API_KEY_HEADERS).join(', ')} are needed`);
    const userId = bearer === undefined ? undefined : await this.tokens.subject(bearer);
    if (userId === undefined || !this.core.credentials(userId)) {
      throw new HttpError(401, 'a Bearer token of POST /auth/login is needed; it lives for one hour');
    }
    return { finish: () => userId };
  }

  /** Whom the AUTH message of a private stream stands for, part 5.5. @throws HttpError 401, 403 */
  admitStream(path: string, claim: KeyClaim): KeyHolder {
    return new KeyCheck(this.core, this.clock, claim, `GET${path}`).finish();
  }

  #byKey(access: 'api-key' | 'jwt', { method, path }: RequestHead, claim: KeyClaim): Admission {
    const check = new KeyCheck(this.core, this.clock, claim, `${method}${path}`);
    const finish = () => {
      const { userId } = check.finish();
      if (access === 'jwt') throw new HttpError(403, 'this needs the Bearer token of a login, not an API key');
      return userId;
    };
    return { signed: check, finish };
  }
}

/** What the API-key headers say; undefined when none of them was sent. */
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
