import { fillLink, type LinkContext } from '../display/address.js';
import type { Scope } from '../display/fill-text.js';
import { safeLink } from '../display/safe-text.js';
import type { PageLink } from '../page-model.js';
import { h } from './dom.js';

/** What links need of their page. */
export interface LinkHost {
  readonly linkContext: (scope: Scope) => LinkContext;
  readonly fillText: (text: string, scope: Scope) => string;
  readonly navigate: (href: string) => void;
}

/** The links of a dashboard, panel or row with the values of the variables; those of other protocols are left out. */
export function linksOf(links: readonly PageLink[], host: LinkHost, scope: Scope): HTMLElement[] {
  return links.flatMap(({ title, url, keepTime, includeVars }) => {
    const added = [...(keepTime ? ['__url_time_range'] : []), ...(includeVars ? ['__all_variables'] : [])];
    const query = added.map((name, i) => `${i > 0 || url.includes('?') ? '&' : '?'}\${${name}}`).join('');
    const context = host.linkContext(scope);
    return anchorOf(`${url}${query}`, host.fillText(title, scope) || url, { ...host, context }) ?? [];
  });
}

/** A link that opens within the page, or in a new window with its host shown; undefined where it must not be followed. */
export function anchorOf(
  url: string,
  text: string,
  { context, navigate, title }: { context: LinkContext; navigate: (href: string) => void; title?: string },
): HTMLElement | undefined {
  const safe = safeLink(fillLink(url, context), location.origin);
  if (!safe) return undefined;
  const { href, foreign } = safe;
  if (foreign !== undefined) {
    const about = title === undefined ? {} : { title: `${title} (${foreign})` };
    return h('a', { href, ...about, rel: 'noopener noreferrer', target: '_blank' }, text, ` ↗ ${foreign}`);
  }
  const anchor = h('a', { href, ...(title === undefined ? {} : { title }) }, text);
  anchor.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    navigate(href);
  });
  return anchor;
}
