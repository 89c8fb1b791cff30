import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { sha256, sha256Hex, UsageError, writeFileAtomicSync } from '../core/index.js';

const TOKEN_BYTES = 32;
const MAX_SESSIONS = 1000;
/** Failed logins that are answered per minute, from whichever client: a token of 256 bits cannot be guessed anyway. */
const MAX_FAILURES = 10;
const FAILURES_MS = 60_000;

/** Reads the token of the viewer from its file, which is readable by its owner only, also where a backup was restored without modes. */
export function readToken(path: string): string {
  if (!existsSync(path)) writeFileAtomicSync(path, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`);
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  const token = readFileSync(path, 'utf8').trim();
  if (Buffer.from(token, 'base64url').length === TOKEN_BYTES) return token;
  throw new UsageError(`${path} holds no token of the viewer; remove it, and the next start writes a new one`);
}

/** Exchanges the token for sessions, whose IDs are in cookies that no script can read. */
export class Login {
  readonly #token: Buffer;
  /**
   * Name of the cookie; it is different for every token. A browser sends cookies to every port of a host, so another viewer on this host
   * would replace a cookie of the same name.
   */
  readonly #cookie: string;
  readonly #sessions = new Set<string>();
  #failures: number[] = [];

  constructor(
    token: string,
    private readonly nowMs: () => number,
    /** Whether the cookie is sent over TLS only. */
    private readonly secure = false,
  ) {
    this.#token = sha256(token);
    this.#cookie = `chancery_viewer_${sha256Hex(`cookie for ${token}`).slice(0, 8)}`;
  }

  /** Whether a request has the cookie of a session. */
  admits(cookies: string | undefined): boolean {
    const [, id] = new RegExp(`(?:^|;\\s*)${this.#cookie}=([\\w-]+)`).exec(cookies ?? '') ?? [];
    return id !== undefined && this.#sessions.has(sha256Hex(id));
  }

  /** The `Set-Cookie` of a new session; `wrong` for another token, `wait` after too many of these. */
  open(token: string): { cookie: string } | 'wrong' | 'wait' {
    const now = this.nowMs();
    this.#failures = this.#failures.filter((at) => at > now - FAILURES_MS);
    if (this.#failures.length >= MAX_FAILURES) return 'wait';
    if (!timingSafeEqual(sha256(token), this.#token)) {
      this.#failures.push(now);
      return 'wrong';
    }
    const id = randomBytes(TOKEN_BYTES).toString('base64url');
    const [oldest] = this.#sessions;
    if (this.#sessions.size >= MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    this.#sessions.add(sha256Hex(id));
    return { cookie: `${this.#cookie}=${id}; HttpOnly; SameSite=Strict; Path=/${this.secure ? '; Secure' : ''}` };
  }
}
