import { shown } from '../display/safe-text.js';

type Child = Node | string | undefined;
type Properties<E> = Partial<Omit<E, 'style' | 'dataset' | 'attributes'>> & {
  readonly attributes?: Readonly<Record<string, string>>;
};

/** Creates an element; texts become text nodes, never markup. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties<HTMLElementTagNameMap[K]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  const { attributes, ...own } = properties;
  Object.assign(element, own);
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, value);
  for (const child of children) {
    if (child !== undefined) element.append(typeof child === 'string' ? shown(child) : child);
  }
  return element;
}

/** A select with these options. */
export function select(
  options: readonly { readonly text: string; readonly value: string }[],
  value: string,
  onChange: (value: string) => void,
): HTMLSelectElement {
  const element = h(
    'select',
    {},
    ...options.map((option) => h('option', { value: option.value, selected: option.value === value }, option.text)),
  );
  element.addEventListener('change', () => onChange(element.value));
  return element;
}

export function button(label: string, title: string, onClick: () => void, className = ''): HTMLButtonElement {
  const element = h('button', { type: 'button', title, className, attributes: { 'aria-label': title } }, label);
  element.addEventListener('click', onClick);
  return element;
}

let pressed: { readonly released: Promise<void>; readonly release: () => void } | undefined;

addEventListener('pointerdown', () => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  pressed ??= { released, release };
});
for (const type of ['pointerup', 'pointercancel', 'blur']) {
  addEventListener(type, () => {
    const { release } = pressed ?? {};
    pressed = undefined;
    // The click follows.
    if (release) setTimeout(release);
  });
}

/** When no button of the pointer is down: a click on an element that is replaced before the release would be lost. */
export const pointerReleased = (): Promise<void> => pressed?.released ?? Promise.resolve();
