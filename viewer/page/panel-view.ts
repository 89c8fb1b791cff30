import type { AnnotationData, PanelData } from '../dashboard-queries.js';
import type { Theme } from '../display/colors.js';
import { asText } from '../display/fields.js';
import type { Scope } from '../display/fill-text.js';
import type { PlacedPanel } from '../display/panel-layout.js';
import { SlowPatternError } from '../display/pattern.js';
import { shown } from '../display/safe-text.js';
import { transformed } from '../display/transformations.js';
import { undrawnOptions } from '../display/undrawn-options.js';
import { isPanelType, type PanelType } from '../panel-types.js';
import { AnswerError, api, isUnavailable, type PanelAsk, RETRY_MS, type View } from './api.js';
import { drawBarChart } from './bar-chart.js';
import { drawBarGauge } from './bar-gauge.js';
import { button, h, pointerReleased } from './dom.js';
import { drawGauge } from './gauge.js';
import { drawHeatmap } from './heatmap.js';
import { drawHistogram, histogramTable } from './histogram.js';
import { type LinkHost, linksOf } from './links.js';
import { untilNextSlice } from './next-slice.js';
import type { Drawn, PanelContext, TableOrder } from './panel-context.js';
import { pointAgain, redrawn } from './redrawn.js';
import { drawStat } from './stat.js';
import { drawStateTimeline } from './state-timeline.js';
import { drawTable } from './table.js';
import { drawText } from './text.js';
import { drawTimeChart } from './time-chart/time-chart.js';
import { drawXyChart } from './xy-chart.js';

/** What a panel needs of its page. */
export interface PanelHost extends LinkHost {
  readonly uid: string;
  readonly view: () => View;
  /** Whether the page is refreshed: it has an interval, its range ends now, and it is visible. */
  readonly isLive: () => boolean;
  readonly theme: () => Theme;
  readonly annotations: () => readonly AnnotationData[];
  readonly onZoom: (from: number, to: number) => void;
  readonly onFull: (panel: string) => void;
  /** A text panel's text with the values of variables. */
  readonly fillContent: (text: string, scope: Scope) => string;
  readonly showSql: (title: string, statements: readonly string[], consoleHrefs?: readonly string[]) => void;
  readonly showDialog: (title: string, content: readonly HTMLElement[]) => void;
}

const DRAW: Readonly<Record<PanelType, (context: PanelContext) => Drawn>> = {
  timeseries: drawTimeChart,
  candlestick: drawTimeChart,
  barchart: drawBarChart,
  histogram: drawHistogram,
  'state-timeline': drawStateTimeline,
  heatmap: drawHeatmap,
  xychart: drawXyChart,
  stat: drawStat,
  gauge: drawGauge,
  bargauge: drawBarGauge,
  table: drawTable,
  text: drawText,
};
/** Panels that show every column of numbers as a value, what is missing too. */
const SHOWS_ALL_COLUMNS = new Set(['table', 'stat', 'gauge', 'bargauge']);
/** How long the browser may take to store a download, milliseconds. */
const DOWNLOAD_MS = 60_000;

/** A panel of the page: its frame, its data, and what it draws of them. */
export class PanelView {
  readonly element: HTMLElement;
  readonly #body = h('div', { className: 'body' });
  readonly #note = h('span', { className: 'note' });
  readonly #heading = h('h2');
  readonly #about = button('i', 'About this panel', () => this.#showAbout(), 'icon about');
  readonly #links = h('span', { className: 'links' });
  readonly #hiddenSeries = new Set<string>();
  readonly #tableOrder: TableOrder = {};
  #drawn: Drawn | undefined;
  #data: PanelData | undefined;
  /** What the drawn data was asked with. */
  #drawnRequest: PanelAsk | undefined;
  #asking: AbortController | undefined;
  #asTable = false;
  #visible = false;
  #stale = true;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly placed: PlacedPanel,
    private readonly host: PanelHost,
  ) {
    const { unsupported } = placed.panel;
    this.#heading.id = `title-${placed.key}`;
    this.element = h(
      'section',
      { className: 'panel', attributes: { 'aria-labelledby': this.#heading.id, 'data-panel': placed.key } },
      h(
        'header',
        {},
        this.#heading,
        this.#about,
        this.#links,
        this.#note,
        h('span', { className: 'actions' }, ...this.#buttons()),
      ),
      this.#body,
    );
    this.#body.addEventListener('redraw', () => this.draw());
    this.#showHead();
    if (unsupported !== undefined)
      this.#show({ element: h('p', { className: 'empty' }, `The viewer does not support ${unsupported}.`) });
  }

  /** Called when it comes into view, and when it leaves it: panels out of view ask nothing. */
  setVisible(visible: boolean): void {
    this.#visible = visible;
    if (visible && this.#stale) void this.#load();
  }

  /**
   * The view has changed, or time has passed.
   * @param leaveInFlight leaves a request that is under way alone: a query that takes longer than the refresh interval would else
   * never be answered; and what the reader has selected, to copy it
   */
  refresh(leaveInFlight: boolean): void {
    this.#showHead();
    this.#body.classList.toggle('outdated', this.#isOutdated);
    if (leaveInFlight && (this.#asking || this.#isSelected)) return;
    this.#stale = true;
    if (this.#visible) void this.#load();
  }

  draw(): void {
    if (this.placed.panel.unsupported !== undefined || !this.#data) return;
    const {
      host,
      placed: { panel, scope },
    } = this;
    const data = this.#data;
    const context: PanelContext = {
      panel,
      config: panel.fieldConfig,
      ...data,
      annotations: host.annotations(),
      theme: host.theme(),
      hiddenSeries: this.#hiddenSeries,
      tableOrder: this.#tableOrder,
      links: host.linkContext(scope),
      onZoom: host.onZoom,
      navigate: host.navigate,
    };
    const draw = this.#asTable ? drawTable : isPanelType(panel.type) ? DRAW[panel.type] : undefined;
    const isBucketTable = this.#asTable && panel.type === 'histogram';
    if (draw) this.#show(draw(isBucketTable ? histogramTable(context) : context));
  }

  resize(): void {
    const style = getComputedStyle(this.#body);
    const width = this.#body.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
    this.#drawn?.resize?.(width, this.#body.clientHeight - Number.parseFloat(style.paddingBottom));
  }

  destroy(): void {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    this.#drawn?.destroy?.();
  }

  #buttons(): HTMLButtonElement[] {
    if (this.placed.panel.unsupported !== undefined || this.placed.panel.type === 'text') return [];
    const sql = button('{}', 'Show SQL', () => void this.#showSql(), 'icon');
    const full = button('⤢', 'Full screen', () => this.host.onFull(this.placed.key), 'icon');
    const csv = button('csv', 'Download CSV', () => void this.#download('csv'), 'icon wide');
    const parquet = button('parquet', 'Download Parquet', () => void this.#download('parquet'), 'icon wide');
    const more = button('⋯', 'Actions', () => this.#toggleActions(more), 'icon more');
    more.setAttribute('aria-expanded', 'false');
    if (this.placed.panel.type === 'table') return [more, csv, parquet, sql, full];
    const table = button('☰', 'Show as table', () => this.#toggleTable(table), 'icon');
    table.setAttribute('aria-pressed', 'false');
    return [more, table, csv, parquet, sql, full];
  }

  /** Where there is no pointer that could hover, the style sheet shows only this button until it is pressed. */
  #toggleActions(toggle: HTMLButtonElement): void {
    const isOpen = this.element.classList.toggle('open');
    toggle.setAttribute('aria-expanded', String(isOpen));
  }

  #toggleTable(toggle: HTMLButtonElement): void {
    this.#asTable = !this.#asTable;
    toggle.setAttribute('aria-pressed', String(this.#asTable));
    this.draw();
  }

  async #download(format: 'csv' | 'parquet'): Promise<void> {
    const title = this.#heading.textContent;
    try {
      const file = await api.export(this.#drawnRequest ?? this.#request(), format);
      const href = URL.createObjectURL(file);
      h('a', { href, download: `${title || this.placed.panel.id}.${format}` }).click();
      setTimeout(() => URL.revokeObjectURL(href), DOWNLOAD_MS);
    } catch (error) {
      this.host.showSql(title, [messageOf(error)]);
    }
  }

  async #showSql(): Promise<void> {
    const title = this.#heading.textContent;
    try {
      const request = this.#drawnRequest ?? this.#request();
      const { statements, hasConsole } = await api.sql(request, new AbortController().signal);
      const consoleHrefs = hasConsole ? statements.map((_, number) => api.consoleHref(request, number)) : [];
      this.host.showSql(title, statements, consoleHrefs);
    } catch (error) {
      this.host.showSql(title, [messageOf(error)]);
    }
  }

  #request(): PanelAsk {
    const { panel, scope } = this.placed;
    const width = Math.max(1, Math.round(this.element.clientWidth || 600));
    return { uid: this.host.uid, id: panel.id, body: { ...this.host.view(), width, scope } };
  }

  /** Whether what is drawn is of other values of the variables. */
  get #isOutdated(): boolean {
    const drawn = this.#drawnRequest?.body.variables;
    return drawn !== undefined && JSON.stringify(drawn) !== JSON.stringify(this.host.view().variables);
  }

  /** The title and links with the values of the variables. */
  #showHead(): void {
    const { panel, scope } = this.placed;
    this.#heading.textContent = shown(this.host.fillText(panel.title, scope));
    const description = shown(this.host.fillText(panel.description, scope));
    this.#heading.title = description;
    this.#about.title = description;
    this.#about.hidden = description === '';
    redrawn(this.#links, () => this.#links.replaceChildren(...linksOf(panel.links, this.host, scope)));
  }

  #showAbout(): void {
    const description = h('p', {}, this.#about.title);
    this.host.showDialog(this.#heading.textContent, [description]);
  }

  #showText(): void {
    const { panel, scope } = this.placed;
    const content = this.host.fillContent(asText(panel.options['content']) ?? '', scope);
    this.#show(drawText({ panel: { ...panel, options: { ...panel.options, content } } }));
  }

  async #load(): Promise<void> {
    const { type, transformations, unsupported } = this.placed.panel;
    if (unsupported !== undefined) return;
    if (type === 'text') {
      this.#showText();
      return;
    }
    this.#stale = false;
    clearTimeout(this.#timer);
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    this.element.setAttribute('aria-busy', 'true');
    try {
      const request = this.#request();
      const data = await api.panel(request, asking.signal);
      await pointerReleased();
      if (asking.signal.aborted) return;
      this.#drawnRequest = { ...request, body: { ...request.body, nowMs: data.nowMs } };
      this.#data = { ...data, frames: transformed(data.frames, transformations, !SHOWS_ALL_COLUMNS.has(type)) };
      this.draw();
      this.#askAgain(data.refreshMs);
    } catch (error) {
      if (asking.signal.aborted) return;
      this.#data = undefined;
      this.#drawnRequest = undefined;
      this.#show({ element: h('p', { className: 'failure' }, messageOf(error)) });
      if (isUnavailable(error)) this.#timer = setTimeout(() => this.#retry(), RETRY_MS);
    } finally {
      if (this.#asking === asking) {
        this.#asking = undefined;
        this.element.setAttribute('aria-busy', 'false');
      }
    }
  }

  /** What could not be had is asked for again, but not for a hidden page. */
  #retry(): void {
    if (document.hidden) this.#timer = setTimeout(() => this.#retry(), RETRY_MS);
    else if (this.#visible) void this.#load();
    else this.#stale = true;
  }

  /** A panel that shows the present is refreshed more often than its dashboard, unless the reader has selected something in it. */
  #askAgain(refreshMs: number): void {
    if (refreshMs === 0 || refreshMs >= this.host.view().refreshMs) return;
    const next = () => {
      if (!this.#visible || !this.host.isLive()) return;
      if (this.#isSelected) this.#askAgain(refreshMs);
      else void this.#load();
    };
    this.#timer = setTimeout(next, untilNextSlice(refreshMs));
  }

  get #isSelected(): boolean {
    const selection = getSelection();
    return selection?.isCollapsed === false && selection.containsNode(this.#body, true);
  }

  #show(drawn: Drawn): void {
    this.#drawn?.destroy?.();
    this.#drawn = drawn;
    this.#body.classList.toggle('outdated', this.#isOutdated);
    const undrawn = undrawnOptions(this.placed.panel);
    const without = undrawn.length > 0 && !this.#asTable ? `without ${undrawn.join(', ')}` : '';
    this.#note.textContent = [this.#data?.timeText ?? '', drawn.note ?? '', without]
      .filter((text) => text !== '')
      .join('; ');
    redrawn(this.#body, () => {
      this.#body.replaceChildren(drawn.element);
      this.resize();
    });
    // When the chart is drawn.
    queueMicrotask(() => pointAgain(this.#body));
  }
}

function messageOf(error: unknown): string {
  if (error instanceof AnswerError || error instanceof SlowPatternError) return error.message;
  return `the page failed: ${error instanceof Error ? error.message : String(error)}`;
}
