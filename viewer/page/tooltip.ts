import { h } from './dom.js';

interface Line {
  readonly name: string;
  readonly value: string;
  readonly color: string | undefined;
}

const box = h('div', { className: 'tooltip', hidden: true, attributes: { role: 'status' } });

let shownBy: object | undefined;
let isTouched = false;

addEventListener('pointerdown', ({ pointerType }) => {
  isTouched = pointerType === 'touch';
  if (isTouched) box.hidden = true;
});

export function showTooltip(
  owner: object,
  {
    title,
    lines,
    notes,
  }: { readonly title: string; readonly lines: readonly Line[]; readonly notes: readonly string[] },
  { clientX: x, clientY: y }: MouseEvent,
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
  shownBy = owner;
  const { offsetWidth, offsetHeight } = box;
  const left = x + 16 + offsetWidth > innerWidth ? x - 16 - offsetWidth : x + 16;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, Math.min(y + 16, innerHeight - offsetHeight - 4))}px`;
}

/** Hides the tooltip if this owner shows it: redrawing one chart must not hide the tooltip of another. */
export function hideTooltip(owner: object): void {
  if (shownBy === owner) box.hidden = true;
}

/** Call when the pointer has left the owner. After a touch the tooltip stays until the next touch. */
export function leaveTooltip(owner: object): void {
  if (!isTouched) hideTooltip(owner);
}
