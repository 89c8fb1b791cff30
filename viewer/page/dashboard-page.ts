import type { AnnotationData } from '../dashboard-queries.js';
import { formatAddress, type LinkContext, type PageAddress } from '../display/address.js';
import { fillMarkdown, fillText, type Scope } from '../display/fill-text.js';
import { durationMs, inWords, parseTime } from '../display/relative-time.js';
import { formatTime } from '../display/units.js';
import { ALL } from '../display/variable-reference.js';
import type { PageDashboard } from '../page-model.js';
import type { ResolvedVariable } from '../variables.js';
import { api, isLoggedOut, isUnavailable, RETRY_MS, type View } from './api.js';
import { button, h, select } from './dom.js';
import { linksOf } from './links.js';
import { multiSelect } from './multi-select.js';
import { untilNextSlice } from './next-slice.js';
import { PanelGrid } from './panel-grid.js';
import type { PanelHost } from './panel-view.js';
import type { Shell } from './shell.js';

const QUICK_RANGES: readonly (readonly [text: string, from: string])[] = [
  ['Last 5 minutes', 'now-5m'],
  ['Last 15 minutes', 'now-15m'],
  ['Last 30 minutes', 'now-30m'],
  ['Last hour', 'now-1h'],
  ['Last 3 hours', 'now-3h'],
  ['Last 6 hours', 'now-6h'],
  ['Last 12 hours', 'now-12h'],
  ['Last 24 hours', 'now-24h'],
  ['Last 7 days', 'now-7d'],
  ['Last 30 days', 'now-30d'],
  ['Last 90 days', 'now-90d'],
];

const refreshMsOf = (text: string): number => durationMs(text) ?? 0;

/** The page of one dashboard. */
export class DashboardPage {
  readonly element = h('main');
  readonly controls = h('div', { className: 'bar' });
  readonly #host: PanelHost;
  readonly #grid: PanelGrid;
  readonly #closed = new AbortController();
  readonly #back: { from: string; to: string }[] = [];
  #variables: readonly ResolvedVariable[] = [];
  #annotations: readonly AnnotationData[] = [];
  #from = '';
  #to = '';
  #refresh = '';
  #full: string | undefined;
  /** Whether the next address is a new entry of the browser's history. */
  #isStep = false;
  #address = '';
  /** What the controls show: what is chosen, and the options. */
  #shownState = '';
  #shownOptions = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** Once known, all values: options come in another order when the page is refreshed, and the first is another one. */
  #chosen: Readonly<Record<string, readonly string[]>> = {};
  /** Whether another value was chosen since the last answer: those that depend on it may then change too. */
  #hasChosen = false;
  /** Which values of the address are shown instead of those it names. */
  #replaced: string | undefined;
  #asking: AbortController | undefined;

  constructor(
    private readonly dashboard: PageDashboard,
    address: PageAddress,
    private readonly shell: Shell,
  ) {
    this.#take(address);
    this.#host = this.#createHost();
    this.#grid = new PanelGrid(dashboard.panels, this.#host);
    this.#grid.setFull(this.#full);
    this.element.append(this.#grid.element);
    document.addEventListener('visibilitychange', () => this.#onVisible(), { signal: this.#closed.signal });
    document.addEventListener('keydown', (event) => this.#onKey(event), { signal: this.#closed.signal });
  }

  get uid(): string {
    return this.dashboard.uid;
  }

  #take({ from, to, refresh, panel, variables }: PageAddress): void {
    const { time, refresh: every } = this.dashboard;
    this.#from = from ?? time.from;
    this.#to = to ?? time.to;
    this.#refresh = refresh ?? every;
    this.#full = panel;
    this.#chosen = variables;
    this.#replaced = undefined;
  }

  /** Shows another address of the same dashboard, which the browser went back or forward to. */
  show(address: PageAddress): void {
    const before = { from: this.#from, to: this.#to };
    this.#take(address);
    const [from, to] = [this.#from, this.#to];
    const last = this.#back.at(-1);
    if (last?.from === from && last.to === to) this.#back.pop();
    else if (before.from !== from || before.to !== to) this.#back.push(before);
    this.#isStep = false;
    this.#grid.setFull(this.#full);
    this.#setTimer();
    void this.#resolve();
  }

  async start(): Promise<void> {
    this.#grid.arrange(this.#variables);
    await this.#resolve();
    this.#grid.watch();
    this.#setTimer();
  }

  close(): void {
    this.#closed.abort();
    this.#asking?.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    this.#grid.close();
  }

  /** The theme has changed. */
  redraw(): void {
    this.#grid.draw();
  }

  #createHost(): PanelHost {
    return {
      uid: this.dashboard.uid,
      view: () => this.#view(),
      isLive: () => this.#isLive,
      theme: () => this.shell.theme,
      annotations: () => this.#annotations,
      onZoom: (from, to) => this.#changeRange(String(from), String(to)),
      navigate: (href) => this.shell.navigate(href),
      onFull: (panel) => this.#setFull(this.#full === panel ? undefined : panel),
      fillText: (text, scope) => fillText(text, this.#variables, scope, 'text'),
      fillContent: (text, scope) => fillMarkdown(text, this.#variables, scope),
      linkContext: (scope) => this.#linkContext(scope),
      showSql: (...sql) => this.shell.showSql(...sql),
      showDialog: (...dialog) => void this.shell.showDialog(...dialog),
    };
  }

  #linkContext(scope: Scope): LinkContext {
    const own = Object.entries(scope).map(([name, value]) => [name, [value]]);
    const { variables } = this.#view();
    return {
      row: {},
      variables: { ...variables, ...Object.fromEntries(own) },
      texts: Object.fromEntries(
        this.#variables.map(({ name }) => [name, fillText(`\${${name}:text}`, this.#variables, scope, 'text')]),
      ),
      from: this.#from,
      to: this.#to,
    };
  }

  #view(): View {
    const variables = Object.fromEntries(
      this.#variables
        .filter(({ hidden, problem }) => !hidden && problem === undefined)
        .map(({ name, value }) => [name, value]),
    );
    return { from: this.#from, to: this.#to, variables, refreshMs: refreshMsOf(this.#refresh) };
  }

  /** Asks for the variables and annotations of the view; then the panels ask for their data. */
  async #resolve(leaveInFlight = false): Promise<void> {
    if (leaveInFlight && this.#asking) return;
    this.#asking?.abort();
    clearTimeout(this.#retry);
    const asking = new AbortController();
    this.#asking = asking;
    const { uid } = this.dashboard;
    try {
      this.#variables = await api.variables(uid, { ...this.#view(), variables: this.#chosen }, asking.signal);
      this.#keepValues();
      this.#showControls();
      this.#writeAddress();
      this.shell.showProblem(this.#replaced);
      this.#grid.arrange(this.#variables);
      this.#grid.refresh(leaveInFlight);
      this.#annotations = await api.annotations(uid, this.#view(), asking.signal);
      const failed = this.#annotations.find(({ problem }) => problem !== undefined);
      if (failed) this.shell.showProblem(`Annotation "${failed.name}" is not drawn: ${failed.problem}`);
      if (this.#annotations.some(({ frame }) => (frame?.fields[0]?.values.length ?? 0) > 0)) this.redraw();
    } catch (error) {
      if (asking.signal.aborted) return;
      if (isLoggedOut(error)) {
        this.shell.logIn();
        return;
      }
      this.#showControls();
      this.shell.showProblem(error instanceof Error ? error.message : String(error));
      if (this.#refresh !== '' || isUnavailable(error)) this.#retry = setTimeout(() => this.#askAgain(), RETRY_MS);
    } finally {
      if (this.#asking === asking) this.#asking = undefined;
    }
  }

  #keepValues(): void {
    if (!this.#hasChosen) this.#replaced = replacedValue(this.#variables, this.#chosen) ?? this.#replaced;
    this.#hasChosen = false;
    this.#chosen = this.#view().variables;
  }

  /** What could not be had is asked for again, but not for a hidden page. */
  #askAgain(): void {
    if (document.hidden) this.#retry = setTimeout(() => this.#askAgain(), RETRY_MS);
    else void this.#resolve(true);
  }

  #changeRange(from: string, to: string): void {
    this.#back.push({ from: this.#from, to: this.#to });
    this.#setRange(from, to);
  }

  #setRange(from: string, to: string): void {
    this.#from = from;
    this.#to = to;
    this.#isStep = true;
    // At once, however long the server takes: who sees nothing happen presses again.
    this.#showControls();
    this.#writeAddress();
    void this.#resolve();
  }

  #setFull(panel: string | undefined): void {
    this.#full = panel;
    this.#isStep = true;
    this.#grid.setFull(panel);
    this.#writeAddress();
  }

  #choose(name: string, values: readonly string[]): void {
    const current = Object.fromEntries(this.#variables.map((one) => [one.name, one.value]));
    this.#chosen = { ...current, [name]: values };
    this.#hasChosen = true;
    this.#replaced = undefined;
    this.#isStep = true;
    void this.#resolve();
  }

  /** Refreshes at multiples of the interval, when the results of the one before are no longer kept. */
  #setTimer(): void {
    clearTimeout(this.#timer);
    const interval = refreshMsOf(this.#refresh);
    if (interval === 0) return;
    const next = () => {
      this.#tick();
      this.#setTimer();
    };
    this.#timer = setTimeout(next, untilNextSlice(interval));
  }

  get #isLive(): boolean {
    return this.#refresh !== '' && !document.hidden && this.#to.startsWith('now');
  }

  #tick(): void {
    if (document.hidden || !this.#to.startsWith('now')) return;
    void this.#resolve(true);
  }

  #onVisible(): void {
    if (!document.hidden && this.#refresh !== '') this.#tick();
  }

  #onKey(event: KeyboardEvent): void {
    const { target, key } = event;
    const isField = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    if ((isField && key !== 'Escape') || event.ctrlKey || event.metaKey) return;
    // Escape closes it, and nothing else.
    if (document.querySelector('dialog[open]')) return;
    if (key === 'Escape' && this.#full !== undefined) this.#setFull(undefined);
    else if (key === 'r') void this.#resolve();
    else if (key === 'b') this.#goBack();
    else if (key === 'z') this.#zoomOut();
    else if (key === 'c') this.#askRange();
    else if (key === 'l') this.#fixRange();
  }

  #goBack(): void {
    const last = this.#back.pop();
    if (last) this.#setRange(last.from, last.to);
  }

  #zoomOut(): void {
    const [from, to] = this.#absolute();
    const half = (to - from) / 2;
    this.#changeRange(String(Math.max(0, from - half)), String(Math.min(Date.now(), to + half)));
  }

  #askRange(): void {
    const [from, to] = this.#absolute().map((ms) =>
      h('input', { type: 'datetime-local', step: '1', value: localTime(ms) }),
    );
    if (!from || !to) return;
    const apply = button('Show', 'Show this range', () => {
      const [first, last] = [from, to].map(({ value }) => new Date(value).getTime()) as [number, number];
      to.setCustomValidity(first < last ? '' : 'The range must end after its start.');
      if (!from.reportValidity() || !to.reportValidity()) return;
      close();
      this.#changeRange(String(first), String(last));
    });
    const label = (text: string, input: HTMLElement) =>
      h('label', { className: 'control' }, h('span', {}, text), input);
    const close = this.shell.showDialog(`Time range (${zoneName()})`, [label('From', from), label('To', to)], [apply]);
  }

  /** Replaces a relative time range by the same in absolute times: the address then shows the same at any time. */
  #fixRange(): void {
    const [from, to] = this.#absolute();
    this.#changeRange(String(from), String(to));
  }

  #absolute(): [from: number, to: number] {
    const now = Date.now();
    return [parseTime(this.#from, now) ?? now, parseTime(this.#to, now, 'to') ?? now];
  }

  #writeAddress(): void {
    const variables = Object.fromEntries(
      this.#variables.filter(({ hidden }) => !hidden).map(({ name, value }) => [name, value]),
    );
    const address = formatAddress({
      uid: this.dashboard.uid,
      from: this.#from,
      to: this.#to,
      // Without it, the address has the interval of the file.
      refresh: this.#refresh === '' && this.dashboard.refresh === '' ? undefined : this.#refresh,
      variables,
      panel: this.#full,
    });
    if (this.#isStep && address !== this.#address) history.pushState(null, '', address);
    else history.replaceState(null, '', address);
    this.#isStep = false;
    this.#address = address;
  }

  /**
   * Replaces the controls where they differ: a list that is open would be closed, and a text that is being typed be taken for complete.
   * Options that have changed wait until no control is used.
   */
  #showControls(): void {
    const focused = document.activeElement?.id;
    const shown = this.#variables.filter(({ hidden }) => !hidden);
    const options = JSON.stringify(shown);
    const state = JSON.stringify([
      shown.map(({ name, value, problem }) => [name, value, problem]),
      [this.#from, this.#to, this.#refresh, this.#back.length > 0],
    ]);
    const isUsed = this.controls.contains(document.activeElement);
    if (state === this.#shownState && (isUsed || options === this.#shownOptions)) return;
    this.#shownState = state;
    this.#shownOptions = options;
    this.controls.replaceChildren(
      ...shown.map((variable) => this.#variableControl(variable)),
      ...linksOf(this.dashboard.links, this.#host, {}),
      h('div', { className: 'times' }, timeZone(), ...this.#timeControls()),
    );
    if (focused) document.getElementById(focused)?.focus();
  }

  #variableControl(variable: ResolvedVariable): HTMLElement {
    const { name, label, description, options, value, includeAll, problem, type } = variable;
    if (problem !== undefined) return h('span', { className: 'control', title: problem }, `${label}: not available`);
    const wrap = (control: HTMLElement) => {
      control.id = `variable-${name}`;
      return h('label', { className: 'control', title: description }, h('span', {}, label), control);
    };
    if (type === 'textbox') {
      const input = h('input', { type: 'text', value: value[0] ?? '', maxLength: 200 });
      input.addEventListener('change', () => this.#choose(name, [input.value]));
      return wrap(input);
    }
    const all = includeAll ? [{ text: 'All', value: ALL }, ...options] : options;
    if (variable.multi) {
      const { element, control } = multiSelect(label, all, value, (chosen) => this.#choose(name, chosen));
      control.id = `variable-${name}`;
      return h('div', { className: 'control', title: description }, h('span', {}, label), element);
    }
    const control = select(all, value[0] ?? '', (chosen) => this.#choose(name, [chosen]));
    if (all.length === 0) control.append(h('option', { value: '' }, 'none yet'));
    return wrap(control);
  }

  #timeControls(): HTMLElement[] {
    const quick = QUICK_RANGES.map(([text, from]) => ({ text, value: from }));
    const isQuick = this.#to === 'now' && quick.some(({ value }) => value === this.#from);
    const own = isQuick ? [] : [{ text: this.#rangeText(), value: 'own' }];
    const other = { text: 'From … to …', value: 'other' };
    const current = isQuick ? this.#from : 'own';
    const range = select([...own, ...quick, other], current, (from) => {
      if (from === 'other') {
        range.value = current;
        this.#askRange();
      } else if (from !== 'own') this.#changeRange(from, 'now');
    });
    range.id = 'range';
    range.className = isQuick ? 'quick' : '';
    range.setAttribute('aria-label', 'Time range');
    const intervals = ['', ...new Set([...this.dashboard.refreshIntervals, this.#refresh].filter((one) => one !== ''))];
    const refresh = select(
      intervals.map((value) => ({ text: value === '' ? 'Off' : value, value })),
      this.#refresh,
      (value) => {
        this.#refresh = value;
        this.#setTimer();
        void this.#resolve();
      },
    );
    refresh.id = 'refresh';
    refresh.setAttribute('aria-label', 'Refresh every');
    const back = button('←', 'Back to the time range before (b)', () => this.#goBack());
    back.disabled = this.#back.length === 0;
    return [
      back,
      button('−', 'Zoom out (z)', () => this.#zoomOut()),
      range,
      button('∞', 'Permanent link: the address with this range in absolute times (l)', () => this.#fixRange()),
      button('⟳', 'Refresh now (r)', () => void this.#resolve()),
      refresh,
    ];
  }

  #rangeText(): string {
    const text = (time: string) =>
      time.startsWith('now') ? time : formatTime(parseTime(time, 0) ?? Number.NaN) || time;
    const last = this.#to === 'now' ? inWords(this.#from) : undefined;
    return last ?? `${text(this.#from)} to ${text(this.#to)}`;
  }
}

/** The time zone of the browser, in which all times of the page are. */
function timeZone(): HTMLElement {
  const title = `Times are in the time zone of the browser: ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
  return h('span', { className: 'zone', title }, zoneName());
}

function zoneName(): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' }).formatToParts();
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** A time in the browser's zone, to the second, as an input of that type takes it. */
function localTime(ms: number): string {
  const date = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return date.toISOString().slice(0, 19);
}

/** Says of the first variable with a value that is not one of its options what is shown instead. */
function replacedValue(
  variables: readonly ResolvedVariable[],
  chosen: Readonly<Record<string, readonly string[]>>,
): string | undefined {
  for (const { name, label, type, hidden, problem, value, options } of variables) {
    if (hidden || problem !== undefined || type === 'textbox') continue;
    const unknown = chosen[name]?.find((one) => !value.includes(one));
    if (unknown === undefined) continue;
    const texts = value.map((one) => options.find((option) => option.value === one)?.text ?? one);
    const instead = value.length === 0 ? 'nothing' : texts.map((text) => JSON.stringify(text)).join(', ');
    return `${label}: the address names ${JSON.stringify(unknown)}, which is not one of the values; shown is ${instead}`;
  }
  return undefined;
}
