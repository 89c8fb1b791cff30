import { ALL } from '../display/variable-reference.js';
import { h } from './dom.js';

interface Option {
  readonly text: string;
  readonly value: string;
}

/** How many chosen values are named. */
const MAX_NAMED = 2;
/** Between the list and the edge of the page, pixels. */
const MARGIN = 12;

/**
 * A list of options to tick. What is ticked is chosen when the list closes: by a click elsewhere, by Tab or Escape.
 * @param options `All`, if it is one of them, is the only one that is ticked
 */
export function multiSelect(
  label: string,
  options: readonly Option[],
  chosen: readonly string[],
  onChange: (values: readonly string[]) => void,
): { readonly element: HTMLElement; readonly control: HTMLElement } {
  const boxes = options.map(({ text, value }) => {
    const box = h('input', { type: 'checkbox', value, checked: chosen.includes(value) });
    return { box, text };
  });
  const ticked = () => boxes.filter(({ box }) => box.checked);
  const control = h('summary', { attributes: { 'aria-label': label } });
  const show = () => {
    const texts = ticked().map(({ text }) => text);
    const more = texts.length - MAX_NAMED;
    control.textContent = '';
    control.append(h('span', {}, texts.slice(0, MAX_NAMED).join(', ') || '–'), ...(more > 0 ? [` +${more}`] : []));
  };
  const list = h(
    'div',
    { className: 'options', tabIndex: -1 },
    ...boxes.map(({ box, text }) => h('label', {}, box, text)),
  );
  const element = h('details', { className: 'several' }, control, list);
  for (const { box } of boxes) {
    box.addEventListener('change', () => {
      for (const other of boxes)
        if (box.checked && other.box !== box && [box.value, other.box.value].includes(ALL)) other.box.checked = false;
      show();
    });
  }
  const close = () => {
    element.open = false;
  };
  element.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) close();
  });
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !element.open) return;
    event.stopPropagation();
    control.focus();
    close();
  });
  element.addEventListener('toggle', () => {
    if (element.open) {
      const beyond = list.getBoundingClientRect().right + MARGIN - document.documentElement.clientWidth;
      if (beyond > 0) list.style.left = `${-beyond}px`;
      return;
    }
    list.style.left = '';
    const values = ticked().map(({ box }) => box.value);
    if (
      values.join('\n') !==
      boxes
        .filter(({ box }) => chosen.includes(box.value))
        .map(({ box }) => box.value)
        .join('\n')
    )
      onChange(values);
  });
  show();
  return { element, control };
}
