import { formatNumber } from '../display/units.js';
import type { EventListing, EventListName, ListedEvent, Mover } from '../first-page.js';
import { api, type DashboardList, isLoggedOut } from './api.js';
import { button, h, pointerReleased } from './dom.js';
import { redrawn } from './redrawn.js';
import type { Shell } from './shell.js';

const REFRESH_MS = 10_000;
/** Until events are listed, and after a failed request. */
const SOON_MS = 1000;
const TYPED_MS = 200;
/** The time of an event that has ended which its link shows: before its last price, and after. */
const LAST_MS = 3_600_000;
const AFTER_MS = 60_000;
/** How long the former list stays after a click on another one, milliseconds. */
const SLOW_MS = 300;
const TITLES: Readonly<Record<EventListName, string>> = {
  open: 'Open',
  closing: 'Closing within 24 h',
  resolved: 'Resolved',
};
const EMPTY: Readonly<Record<EventListName, string>> = {
  open: 'no event is open',
  closing: 'no event closes within 24 hours',
  resolved: 'no event is resolved yet',
};
/** The texts of lists in which a search found nothing. */
const NO_MATCH: Readonly<Record<EventListName, string>> = {
  open: 'no open event has these words',
  closing: 'no event that closes within 24 hours has these words',
  resolved: 'no resolved event has these words',
};
/** The texts of a new instance. */
const NOTHING_YET = 'nothing is recorded yet; events appear here within seconds of the start of recording';
const NO_PRICE_YET = 'no price is recorded yet';
/** The dashboards of an event and of a market, where the folder has them. */
const EVENT_DASHBOARD = 'chancery-event';
const MARKET_DASHBOARD = 'chancery-market-overview';

/** The first page: events, the markets that moved most, and all dashboards. */
export class HomePage {
  readonly element: HTMLElement;
  readonly #closed = new AbortController();
  readonly #tabs: ReadonlyMap<EventListName, HTMLButtonElement>;
  readonly #events = h('div', { className: 'scroll' }, message('loading …'));
  readonly #movers = h('div', { className: 'scroll' }, message('loading …'));
  readonly #search: HTMLInputElement;
  readonly #cards: readonly HTMLElement[];
  readonly #noCard = message('no dashboard has these words');
  readonly #dashboards: ReadonlySet<string>;
  #list: EventListName = 'open';
  #asking: AbortController | undefined;
  #isAskingMovers = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the latest listing had events, on whichever list; undefined until there is one. */
  #hasEvents: boolean | undefined;
  #typed: ReturnType<typeof setTimeout> | undefined;

  constructor(
    { dashboards, problems }: DashboardList,
    private readonly shell: Shell,
  ) {
    this.#dashboards = new Set(dashboards.map(({ uid }) => uid));
    this.#cards = dashboards.map(({ uid, title, description, panels }) => {
      const card = this.#link(
        `/d/${uid}`,
        h('h2', {}, title),
        h('p', {}, description || (panels === 1 ? '1 panel' : `${panels} panels`)),
      );
      card.className = 'card';
      return card;
    });
    const failed = problems.map(({ file, reason }) =>
      h('div', { className: 'card' }, h('h2', {}, file), h('p', {}, `It is not shown: ${reason}`)),
    );
    this.#search = h('input', {
      id: 'search',
      type: 'search',
      maxLength: 200,
      placeholder: 'Search events and dashboards',
      attributes: { 'aria-label': 'Search events and dashboards' },
    });
    this.#search.addEventListener('input', () => {
      this.#filterCards();
      this.#events.ariaBusy = 'true';
      clearTimeout(this.#typed);
      this.#typed = setTimeout(() => void this.#loadEvents(), TYPED_MS);
    });
    this.#search.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') void this.#openFirst();
    });
    const names = Object.keys(TITLES) as EventListName[];
    this.#tabs = new Map(
      names.map((list) => [list, button(TITLES[list], TITLES[list], () => void this.#choose(list))]),
    );
    this.#drawTabs();
    this.#noCard.hidden = true;
    const tabs = h('div', { className: 'tabs', attributes: { role: 'group', 'aria-label': 'Events' } });
    tabs.append(...this.#tabs.values());
    this.element = h(
      'main',
      { className: 'home' },
      section('Events', h('div', { className: 'bar' }, this.#search, tabs), this.#events),
      h(
        'div',
        { className: 'side' },
        section('Largest moves of the last 24 hours', this.#movers),
        section('Dashboards', h('div', { className: 'cards' }, ...this.#cards, this.#noCard, ...failed)),
      ),
    );
  }

  start(): void {
    this.element.addEventListener('keydown', (event) => this.#onArrow(event));
    void this.#load();
  }

  /** The arrow keys go from the search through what it has found. */
  #onArrow(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const stops = [this.#search, ...this.#results()];
    const at = stops.indexOf(document.activeElement as HTMLElement);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    stops[Math.max(0, at + step)]?.focus();
  }

  /** Opens the first result of what is typed, and not of what was listed before. */
  async #openFirst(): Promise<void> {
    const isBusy = () => this.#events.ariaBusy === 'true';
    if (isBusy()) {
      clearTimeout(this.#typed);
      await this.#loadEvents();
    }
    if (!isBusy() && this.#hasEvents !== undefined) this.#results()[0]?.click();
  }

  #results(): HTMLElement[] {
    const events = this.#events.querySelectorAll<HTMLElement>('a');
    return [...events, ...this.#cards.filter((card) => !card.hidden)];
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#typed);
    this.#asking?.abort();
    this.#closed.abort();
  }

  /** Its colors follow the theme without this. */
  redraw(): void {}

  async #choose(list: EventListName): Promise<void> {
    this.#list = list;
    this.#drawTabs();
    const slow = setTimeout(() => this.#events.replaceChildren(message('loading')), SLOW_MS);
    await this.#loadEvents();
    clearTimeout(slow);
  }

  /** Loads both, and again after a while; what is hidden waits. */
  async #load(): Promise<void> {
    const hadEvents = this.#hasEvents === true;
    if (!document.hidden) {
      // What is asked for is not given up for a refresh: it would never be there where answers take longer than the interval.
      if (!this.#isAskingMovers) void this.#loadMovers();
      if (!this.#asking) await this.#loadEvents();
    }
    if (this.#closed.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#load(), hadEvents && this.#hasEvents === true ? REFRESH_MS : SOON_MS);
  }

  async #loadEvents(): Promise<void> {
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    try {
      const listing = await api.events({ list: this.#list, search: this.#search.value }, asking.signal);
      await pointerReleased();
      if (asking.signal.aborted) return;
      this.shell.showProblem(undefined);
      this.#hasEvents = listing.hasEvents;
      this.#drawCounts(listing.counts);
      const left = listing.counts[this.#list] - listing.events.length;
      const more = left > 0 ? [message(`and ${left} more, which the search finds`)] : [];
      redrawn(this.#events, () => this.#events.replaceChildren(this.#eventTable(listing.events), ...more));
    } catch (error) {
      if (asking.signal.aborted) return;
      this.#hasEvents = undefined;
      this.#fail(this.#events, error);
    } finally {
      if (this.#asking === asking) {
        this.#asking = undefined;
        this.#events.ariaBusy = 'false';
      }
    }
  }

  async #loadMovers(): Promise<void> {
    const { signal } = this.#closed;
    this.#isAskingMovers = true;
    try {
      const movers = await api.movers(signal);
      await pointerReleased();
      redrawn(this.#movers, () => this.#movers.replaceChildren(this.#moverTable(movers)));
    } catch (error) {
      if (!signal.aborted) this.#fail(this.#movers, error);
    } finally {
      this.#isAskingMovers = false;
    }
  }

  /** What was shown before stays. */
  #fail(part: HTMLElement, error: unknown): void {
    if (isLoggedOut(error)) {
      this.shell.logIn();
      return;
    }
    const text = error instanceof Error ? error.message : String(error);
    this.shell.showProblem(text);
    if (!part.querySelector('table')) part.replaceChildren(message(`not available: ${text}`));
  }

  #drawTabs(): void {
    for (const [list, tab] of this.#tabs) tab.setAttribute('aria-pressed', String(list === this.#list));
  }

  #drawCounts(counts: EventListing['counts']): void {
    for (const [list, tab] of this.#tabs) {
      const label = `${TITLES[list]} ${counts[list]}`;
      tab.textContent = label;
      tab.setAttribute('aria-label', label);
    }
  }

  #eventTable(events: readonly ListedEvent[]): HTMLElement {
    if (events.length === 0) {
      const searched = this.#search.value.trim() !== '';
      const none = this.#hasEvents === true ? EMPTY[this.#list] : NOTHING_YET;
      return message(searched ? NO_MATCH[this.#list] : none);
    }
    const resolved = this.#list === 'resolved';
    const rows = events.map((one) => {
      const { outcome, basis, price, closesAt, volume24h } = one;
      return h(
        'tr',
        {},
        h('td', {}, this.#eventLink(one, one.title), outcomeLine(one, resolved), h('small', {}, describe(one))),
        h(
          'td',
          { className: 'minor', title: outcome },
          outcome || (resolved ? 'not known' : ''),
          basis ? h('small', {}, `by ${basis}`) : undefined,
        ),
        ...(resolved ? [] : [number(price === null ? '' : percent(price))]),
        number(closesAt === null ? '' : distance(closesAt, Date.now()), closesAt === null ? '' : dateOf(closesAt)),
        number(volume24h === null ? '' : amount(volume24h), '', 'minor'),
      );
    });
    const heads = [
      heading('Event'),
      heading(resolved ? 'Resolved as' : 'Leading', 'minor'),
      ...(resolved ? [] : [heading('YES', 'number narrower')]),
      heading(resolved ? 'Closed' : 'Closes', 'number'),
      heading('Volume 24 h, USDC', 'number minor', 'Volume of the last 24 hours in USDC, by the exchange'),
    ];
    return table(heads, rows);
  }

  #moverTable(movers: readonly Mover[]): HTMLElement {
    if (movers.length === 0)
      return message(this.#hasEvents === true ? 'no price has changed in 24 hours' : NO_PRICE_YET);
    const rows = movers.map(({ event, market, title, name, price, before }) => {
      const change = price - before;
      const cell = number(`${change > 0 ? '' : '−'}${(Math.abs(change) * 100).toFixed(1)}`);
      cell.classList.add(change > 0 ? 'up' : 'down');
      const link = this.#eventLink({ event }, title, market);
      return h('tr', {}, h('td', {}, link, h('small', {}, name)), number(percent(price)), cell);
    });
    return table(
      [heading('Market'), heading('YES', 'number'), heading('Points', 'number', 'Change in percentage points')],
      rows,
    );
  }

  /** The title, as a link to the dashboard of the event, or of its market; of an event that has ended, at its last hour. */
  #eventLink({ event, endedAt }: LinkedEvent, name: string, market?: string): HTMLElement {
    const title = h('span', { title: name }, name);
    const dashboard = market === undefined ? EVENT_DASHBOARD : MARKET_DASHBOARD;
    if (!this.#dashboards.has(dashboard)) return title;
    const chosen = new URLSearchParams({
      'var-event': event,
      ...(market === undefined ? {} : { 'var-market': market }),
      ...(typeof endedAt === 'number' ? { from: `${endedAt - LAST_MS}`, to: `${endedAt + AFTER_MS}` } : {}),
    });
    return this.#link(`/d/${dashboard}?${chosen}`, title);
  }

  #link(href: string, ...children: HTMLElement[]): HTMLAnchorElement {
    const link = h('a', { href }, ...children);
    link.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.shell.navigate(href);
    });
    return link;
  }

  #filterCards(): void {
    const words = this.#search.value.toLowerCase().split(/\s+/);
    for (const card of this.#cards) {
      const content = (card.textContent ?? '').toLowerCase();
      card.hidden = !words.every((word) => content.includes(word));
    }
    this.#noCard.hidden = this.#cards.some((card) => !card.hidden);
  }
}

/** The event of a link. */
type LinkedEvent = Pick<ListedEvent, 'event'> & Partial<Pick<ListedEvent, 'endedAt'>>;

function message(text: string): HTMLElement {
  return h('p', { className: 'empty' }, text);
}

function section(title: string, ...children: HTMLElement[]): HTMLElement {
  return h('section', { attributes: { 'aria-label': title } }, h('h2', { className: 'heading' }, title), ...children);
}

const heading = (text: string, className = '', title = ''): HTMLElement =>
  h('th', { className, title, attributes: { scope: 'col' } }, text);

function table(heads: readonly HTMLElement[], rows: readonly HTMLElement[]): HTMLElement {
  return h('table', {}, h('thead', {}, h('tr', {}, ...heads)), h('tbody', {}, ...rows));
}

const number = (text: string, title = '', className = ''): HTMLTableCellElement =>
  h('td', { className: `number ${className}`, title }, text);
const percent = (fraction: number): string => `${(fraction * 100).toFixed(1)}%`;
const dateOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
const describe = ({ category, markets }: ListedEvent): string =>
  [category, `${markets} ${markets === 1 ? 'market' : 'markets'}`].filter((part) => part !== '').join(' · ');

/** The outcome and the volume, where their columns have no room. */
function outcomeLine({ outcome, basis, volume24h }: ListedEvent, resolved: boolean): HTMLElement | undefined {
  const by = basis ? `, by ${basis}` : '';
  const leading = outcome === '' ? [] : [`Leading: ${outcome}`];
  const parts = resolved ? [`Resolved as ${outcome || 'not known'}${by}`] : leading;
  if (volume24h !== null) parts.push(`${amount(volume24h)} USDC in 24 h`);
  return parts.length === 0 ? undefined : h('small', { className: 'narrow' }, parts.join(' · '));
}

function amount(value: number): string {
  return formatNumber(value, 'none', 0).text;
}

/** How far a time is from now, in its largest unit. */
function distance(ms: number, nowMs: number): string {
  const seconds = Math.abs(ms - nowMs) / 1000;
  const [size, unit] = seconds < 5400 ? [60, 'min'] : seconds < 172_800 ? [3600, 'h'] : [86_400, 'd'];
  if (seconds < 30) return 'now';
  const text = `${Math.round(seconds / size)} ${unit}`;
  return ms >= nowMs ? `in ${text}` : `${text} ago`;
}
