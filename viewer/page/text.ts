import { asText } from '../display/fields.js';
import { type Block, blocksOf, type Inline } from '../display/markdown.js';
import { safeLink } from '../display/safe-text.js';
import { h } from './dom.js';
import type { Drawn, PanelContext } from './panel-context.js';

const TAGS = { strong: 'strong', emphasis: 'em', code: 'code' } as const;

function drawInline(parts: readonly Inline[]): (Node | string)[] {
  return parts.map((part) => {
    if (part.kind === 'text') return part.text;
    if (part.kind !== 'link') return h(TAGS[part.kind], {}, part.text);
    const safe = safeLink(part.url, location.origin);
    const host = safe?.foreign === undefined ? '' : ` ↗ ${safe.foreign}`;
    return safe ? h('a', { href: safe.href, rel: 'noopener noreferrer' }, `${part.text}${host}`) : part.text;
  });
}

function drawBlock(block: Block): HTMLElement {
  switch (block.kind) {
    case 'heading':
      return h(block.level < 3 ? 'h3' : 'h4', {}, ...drawInline(block.line));
    case 'paragraph':
      return h('p', {}, ...drawInline(block.line));
    case 'code':
      return h('pre', {}, block.lines.join('\n'));
    case 'list':
      return h(block.ordered ? 'ol' : 'ul', {}, ...block.items.map((item) => h('li', {}, ...drawInline(item))));
    case 'table': {
      const row = (tag: 'th' | 'td', cells: readonly (readonly Inline[])[]) =>
        h('tr', {}, ...cells.map((cell) => h(tag, {}, ...drawInline(cell))));
      const rows = block.rows.map((cells) => row('td', cells));
      return h('table', {}, h('thead', {}, row('th', block.head)), h('tbody', {}, ...rows));
    }
  }
}

/** Markdown without HTML. */
export function drawText({ panel }: Pick<PanelContext, 'panel'>): Drawn {
  const content = asText(panel.options['content']) ?? '';
  const mode = asText(panel.options['mode']) ?? 'markdown';
  if (mode === 'html')
    return { element: h('p', { className: 'empty' }, 'the viewer does not support HTML in text panels') };
  const blocks = mode === 'code' ? [h('pre', {}, content)] : blocksOf(content).map(drawBlock);
  return { element: h('div', { className: 'scroll' }, ...blocks) };
}
