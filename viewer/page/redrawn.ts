/** Parts that scroll by themselves. */
const SCROLLED = '.scroll, .legend, .tiles';
const FOCUSED = 'a, button, .scroll';

/** Draws the content of an element anew: what had the focus has it again, and what was scrolled is where it was. */
export function redrawn(element: HTMLElement, draw: () => void): void {
  const focus = keepFocus(element);
  const scrolled = [...element.querySelectorAll(SCROLLED)].map(({ scrollTop, scrollLeft }) => [scrollLeft, scrollTop]);
  draw();
  for (const [i, part] of element.querySelectorAll(SCROLLED).entries()) {
    const [left = 0, top = 0] = scrolled[i] ?? [];
    if (left > 0 || top > 0) part.scrollTo(left, top);
  }
  focus();
}

/** If several links or buttons are equal, the one with the same number gets the focus. */
function keepFocus(element: HTMLElement): () => void {
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLElement) || activeElement === element || !element.contains(activeElement))
    return () => undefined;
  const key = keyOf(activeElement);
  const equal = () => [...element.querySelectorAll<HTMLElement>(FOCUSED)].filter((one) => keyOf(one) === key);
  const number = equal().indexOf(activeElement);
  return () => equal()[number]?.focus({ preventScroll: true });
}

const keyOf = (one: HTMLElement): string =>
  [one.tagName, one.getAttribute('href') ?? (one.title || one.getAttribute('aria-label'))].join(' ');

let pointer: { readonly x: number; readonly y: number } | undefined;

for (const type of ['pointermove', 'pointerdown'] as const) {
  addEventListener(type, ({ clientX, clientY }) => {
    pointer = { x: clientX, y: clientY };
  });
}
// A finger that was lifted has left too, but what it pointed at is shown.
document.addEventListener('pointerleave', ({ pointerType }) => {
  if (pointerType === 'mouse') pointer = undefined;
});

/** Whether the pointer is over an element; a browser knows it of a new one only when the pointer has moved. */
export const isUnderPointer = (element: Element): boolean =>
  pointer !== undefined && element.contains(document.elementFromPoint(pointer.x, pointer.y));

/** Tells what was drawn anew where the pointer is, which may not move for long: it shows its tooltip again. */
export function pointAgain(element: Element): void {
  const at = pointer && document.elementFromPoint(pointer.x, pointer.y);
  if (!pointer || !at || !element.contains(at)) return;
  const { x: clientX, y: clientY } = pointer;
  at.dispatchEvent(new MouseEvent('mousemove', { bubbles: true, clientX, clientY }));
}
