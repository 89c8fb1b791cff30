import { fillText, type ShownVariable } from '../display/fill-text.js';
import { arrangePanels, type PlacedPanel } from '../display/panel-layout.js';
import type { PagePanel } from '../page-model.js';
import { h } from './dom.js';
import { linksOf } from './links.js';
import { type PanelHost, PanelView } from './panel-view.js';

/** Columns of the grid, of 24. */
const MAX_NARROW = 6;

/** The panels of a dashboard in their places, repeated for the values of its variables. */
export class PanelGrid {
  readonly element = h('div', { className: 'grid' });
  readonly #views = new Map<string, PanelView>();
  readonly #seen = new IntersectionObserver((entries) => this.#onSeen(entries), { rootMargin: '200px' });
  readonly #sized = new ResizeObserver((entries) => this.#onSized(entries));
  /** Keys of the rows that the reader has opened or closed. */
  readonly #toggled = new Set<string>();
  #variables: readonly ShownVariable[] = [];
  #placed = '';
  #full: string | undefined;
  #isWatching = false;

  constructor(
    private readonly panels: readonly PagePanel[],
    private readonly host: PanelHost,
  ) {}

  /** Places the panels for these variables. */
  arrange(variables: readonly ShownVariable[]): void {
    this.#variables = variables;
    this.#arrange();
  }

  /** From now on, panels in view ask for their data. */
  watch(): void {
    this.#isWatching = true;
    for (const view of this.#views.values()) this.#observe(view);
  }

  refresh(leaveInFlight: boolean): void {
    for (const view of this.#views.values()) view.refresh(leaveInFlight);
  }

  draw(): void {
    for (const view of this.#views.values()) view.draw();
  }

  /** @param key of the panel that fills the page */
  setFull(key: string | undefined): void {
    this.#full = key;
    const full = this.#views.get(key ?? '')?.element;
    for (const { element } of this.#views.values()) element.classList.toggle('full', element === full);
    // The focus must not go behind it.
    for (const element of this.element.querySelectorAll<HTMLElement>(':scope > *'))
      element.inert = full !== undefined && element !== full;
  }

  close(): void {
    this.#seen.disconnect();
    this.#sized.disconnect();
    for (const view of this.#views.values()) view.destroy();
  }

  #arrange(): void {
    const placed = arrangePanels(this.panels, this.#variables, ({ key, panel }) => this.#isCollapsed(key, panel));
    const rows = placed.filter(({ panel }) => panel.type === 'row').map((row) => this.#rowHeading(row));
    const state = JSON.stringify([
      placed.map(({ key, gridPos }) => [key, gridPos]),
      rows.map(({ innerHTML }) => innerHTML),
    ]);
    if (state === this.#placed) return;
    this.#placed = state;
    const before = new Map(this.#views);
    const halves = halfWide(placed);
    const elements = placed.map((item) => {
      before.delete(item.key);
      const element = item.panel.type === 'row' ? rows.shift() : this.#viewOf(item).element;
      if (element) positionAt(element, item.gridPos);
      element?.classList.toggle('half', halves.has(item.key));
      return element;
    });
    for (const [key, view] of before) this.#remove(key, view);
    this.element.replaceChildren(...elements.filter((element) => element !== undefined));
    this.setFull(this.#full);
  }

  #viewOf(placed: PlacedPanel): PanelView {
    const known = this.#views.get(placed.key);
    if (known) return known;
    const view = new PanelView(placed, this.host);
    this.#views.set(placed.key, view);
    if (this.#isWatching) this.#observe(view);
    return view;
  }

  #observe(view: PanelView): void {
    this.#seen.observe(view.element);
    this.#sized.observe(view.element);
  }

  #remove(key: string, view: PanelView): void {
    this.#seen.unobserve(view.element);
    this.#sized.unobserve(view.element);
    view.destroy();
    this.#views.delete(key);
  }

  #isCollapsed(key: string, { collapsed }: PagePanel): boolean {
    return collapsed !== this.#toggled.has(key);
  }

  #rowHeading({ key, panel, scope }: PlacedPanel): HTMLElement {
    const isCollapsed = this.#isCollapsed(key, panel);
    const title = fillText(panel.title, this.#variables, scope, 'text');
    const toggle = h(
      'button',
      { type: 'button', className: 'row-toggle', attributes: { 'aria-expanded': String(!isCollapsed) } },
      `${isCollapsed ? '▸' : '▾'} ${title}`,
    );
    toggle.addEventListener('click', () => {
      if (!this.#toggled.delete(key)) this.#toggled.add(key);
      this.#arrange();
    });
    const heading = h('h2', { className: 'row-heading' }, toggle);
    return panel.links.length === 0
      ? heading
      : h('div', { className: 'row-heading' }, heading, ...linksOf(panel.links, this.host, scope));
  }

  #onSeen(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) this.#viewAt(target)?.setVisible(isIntersecting);
  }

  #onSized(entries: readonly ResizeObserverEntry[]): void {
    for (const { target } of entries) this.#viewAt(target)?.resize();
  }

  #viewAt(element: Element): PanelView | undefined {
    return [...this.#views.values()].find((view) => view.element === element);
  }
}

const isNarrow = ({ panel: { type }, gridPos }: PlacedPanel): boolean =>
  (type === 'stat' || type === 'gauge') && gridPos.w <= MAX_NARROW;

/** Keys of the panels that stand in pairs, side by side, in a narrow window. A panel without a neighbour is as wide as the window. */
function halfWide(placed: readonly PlacedPanel[]): ReadonlySet<string> {
  const keys = new Set<string>();
  for (let i = 0; i + 1 < placed.length; i++) {
    const [first, second] = [placed[i], placed[i + 1]];
    if (!first || !second || !isNarrow(first) || !isNarrow(second)) continue;
    keys.add(first.key).add(second.key);
    i++;
  }
  return keys;
}

function positionAt(element: HTMLElement, { x, y, w, h: rows }: PagePanel['gridPos']): void {
  element.style.setProperty('--column', `${x + 1} / span ${w}`);
  element.style.setProperty('--row', `${y + 1} / span ${rows}`);
  element.style.setProperty('--rows', String(rows));
}
