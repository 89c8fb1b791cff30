import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { isLoopback } from '../client/index.js';

/** Sent with every response. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; " +
    "img-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/** The names under which a viewer may be asked. A page that asks under another name was served by another host. */
export class OwnNames {
  readonly #names: ReadonlySet<string>;

  /**
   * @param host the address that the viewer listens on. Unless it is loopback, any IP address is accepted as a name too: a page of an
   *   attacker reaches the viewer only by a host name
   * @param publicUrl its address behind a proxy
   */
  constructor(
    private readonly host: string,
    private readonly port: number,
    private readonly publicUrl?: string,
  ) {
    const names = LOOPBACK_NAMES.concat(isIP(host) === 0 ? host.toLowerCase() : []);
    const given = publicUrl === undefined ? [] : [new URL(publicUrl).host];
    this.#names = new Set([...names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]), ...given]);
  }

  /** Why a request to a page is refused: another name for this address (DNS rebinding). Undefined when it is not. */
  pageRefusal({ host }: IncomingHttpHeaders): string | undefined {
    return host !== undefined && this.#isOwn(host.toLowerCase()) ? undefined : 'the Host is not this viewer';
  }

  /** Why a request for data is refused: pages of other origins may not ask. Undefined when it is not. */
  dataRefusal(headers: IncomingHttpHeaders): string | undefined {
    const { origin, 'sec-fetch-site': site } = headers;
    const refusal = this.pageRefusal(headers);
    if (refusal !== undefined) return refusal;
    if (origin !== undefined && !this.#origins(headers.host ?? '').includes(origin.toLowerCase()))
      return 'the Origin is not this viewer';
    return site === undefined || site === 'same-origin' || site === 'none' ? undefined : 'the request is cross-site';
  }

  #isOwn(host: string): boolean {
    if (this.#names.has(host)) return true;
    const [, name = '', port = '80'] = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(host) ?? [];
    return !isLoopback(this.host) && isIP(name) !== 0 && Number(port) === this.port;
  }

  #origins(host: string): string[] {
    const own = `http://${host.toLowerCase()}`;
    return this.publicUrl === undefined ? [own] : [own, new URL(this.publicUrl).origin];
  }
}
