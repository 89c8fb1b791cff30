/** Control characters that change the direction of text, with which a title could show another text than it is. */
const BIDIRECTIONAL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text of the exchange or of a file, with bidirectional control characters shown as `\u202e`. */
export function shown(text: string): string {
  return text.replace(BIDIRECTIONAL, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A link of a file: relative, `https:` or `http:`; undefined for any other. `foreign` is the host of another origin. */
export function safeLink(url: string, origin: string): { href: string; foreign?: string } | undefined {
  let target: URL;
  try {
    target = new URL(url, origin);
  } catch {
    return undefined;
  }
  if (target.protocol !== 'https:' && target.protocol !== 'http:') return undefined;
  return target.origin === origin ? { href: target.href } : { href: target.href, foreign: target.host };
}
