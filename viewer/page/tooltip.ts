import { h } from './dom.js';

interface Line {
  readonly name: string;
  readonly value: string;
  readonly color: string | undefined;
}

const box = h('div', { className: 'tooltip', hidden: true, attributes: { role: 'status' } });

export function showTooltip(
  title: string,
  lines: readonly Line[],
  notes: readonly string[],
  x: number,
  y: number,
): void {
  const list = h('dl');
  for (const { name, value, color } of lines) {
    const swatch = h('span', { className: 'swatch' });
    if (color !== undefined) swatch.style.background = color;
    list.append(swatch, h('dt', {}, name), h('dd', {}, value));
  }
  box.replaceChildren(h('strong', {}, title), list, ...notes.map((note) => h('div', {}, note)));
  if (!box.isConnected) document.body.append(box);
  box.hidden = false;
  const { offsetWidth, offsetHeight } = box;
  const left = x + 16 + offsetWidth > innerWidth ? x - 16 - offsetWidth : x + 16;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, Math.min(y + 16, innerHeight - offsetHeight - 4))}px`;
}

export function hideTooltip(): void {
  box.hidden = true;
}
