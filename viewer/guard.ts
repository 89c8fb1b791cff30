import type { IncomingHttpHeaders } from 'node:http';

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

/** The values of `Host` under which a viewer on this loopback port may be asked. */
export const loopbackHosts = (port: number): ReadonlySet<string> =>
  new Set(LOOPBACK_NAMES.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]));

/** Why a request to a page is refused: another name for this address (DNS rebinding). Undefined when it is not. */
export function pageRefusal({ host }: IncomingHttpHeaders, hosts: ReadonlySet<string>): string | undefined {
  return host !== undefined && hosts.has(host.toLowerCase()) ? undefined : 'the Host is not this viewer';
}

/** Why a request for data is refused: pages of other origins may not ask. Undefined when it is not. */
export function dataRefusal(headers: IncomingHttpHeaders, hosts: ReadonlySet<string>): string | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  const refusal = pageRefusal(headers, hosts);
  if (refusal !== undefined) return refusal;
  if (origin !== undefined && origin.toLowerCase() !== `http://${headers.host?.toLowerCase()}`)
    return 'the Origin is not this viewer';
  return site === undefined || site === 'same-origin' || site === 'none' ? undefined : 'the request is cross-site';
}
