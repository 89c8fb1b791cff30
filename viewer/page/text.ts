import { asText } from '../display/fields.js';
import { safeLink, shown } from '../display/safe-text.js';
import { h } from './dom.js';
import type { Drawn, PanelContext } from './panel-context.js';

const INLINE = /\*\*([^*]+)\*\*|`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)|\*([^*]+)\*/g;

function inline(text: string): (Node | string)[] {
  const parts: (Node | string)[] = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, strong, code, label, url, emphasis] = match;
    parts.push(text.slice(from, match.index));
    from = match.index + whole.length;
    if (strong !== undefined) parts.push(h('strong', {}, strong));
    else if (code !== undefined) parts.push(h('code', {}, code));
    else if (emphasis !== undefined) parts.push(h('em', {}, emphasis));
    else {
      const safe = safeLink(url ?? '', location.origin);
      const host = safe?.foreign === undefined ? '' : ` ↗ ${safe.foreign}`;
      parts.push(safe ? h('a', { href: safe.href, rel: 'noopener noreferrer' }, `${label}${host}`) : (label ?? ''));
    }
  }
  return [...parts, text.slice(from)];
}

/** Markdown without HTML: headings, lists, paragraphs, emphasis, code and links. */
export function drawText({ panel }: Pick<PanelContext, 'panel'>): Drawn {
  const content = asText(panel.options['content']) ?? '';
  const mode = asText(panel.options['mode']) ?? 'markdown';
  if (mode === 'html')
    return { element: h('p', { className: 'empty' }, 'the viewer does not support HTML in text panels') };
  const element = h('div', { className: 'scroll' });
  if (mode === 'code') {
    element.append(h('pre', {}, content));
    return { element };
  }
  let list: HTMLElement | undefined;
  let code: HTMLElement | undefined;
  for (const line of content.split('\n')) {
    if (/^\s*```/.test(line)) {
      code = code ? undefined : h('pre');
      if (code) element.append(code);
      continue;
    }
    if (code) {
      code.append(`${shown(line)}\n`);
      continue;
    }
    const [, hashes, heading] = /^(#{1,6})\s+(.*)$/.exec(line) ?? [];
    const [, marker, item] = /^\s*([-*]|\d+\.)\s+(.*)$/.exec(line) ?? [];
    if (item === undefined) list = undefined;
    if (hashes !== undefined) element.append(h(hashes.length < 3 ? 'h3' : 'h4', {}, ...inline(heading ?? '')));
    else if (item !== undefined) {
      if (!list) {
        list = h(/\d/.test(marker ?? '') ? 'ol' : 'ul');
        element.append(list);
      }
      list.append(h('li', {}, ...inline(item)));
    } else if (line.trim() !== '') element.append(h('p', {}, ...inline(line)));
  }
  return { element };
}
