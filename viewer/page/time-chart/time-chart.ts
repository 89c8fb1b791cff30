import uPlot from 'uplot';
import { asRecord, asText, formatValue, isHiddenFrom } from '../../display/fields.js';
import { rowAt } from '../../display/pointed-row.js';
import { isAllMissing, isCompleteness } from '../../display/strokes.js';
import { formatTime } from '../../display/units.js';
import { h } from '../dom.js';
import { anchorOf } from '../links.js';
import type { Drawn, PanelContext } from '../panel-context.js';
import { isUnderPointer } from '../redrawn.js';
import { hideTooltip, leaveTooltip, showTooltip } from '../tooltip.js';
import { axesOf, besideLabels, SYNC, scalesOf } from './axes.js';
import { type ChartData, chartDataOf, isCandlestick, type Series } from './chart-data.js';
import { annotationsOf, drawBackground, drawCandles, drawThresholds } from './layers.js';
import { drawLegend } from './legend.js';
import { plottedSeries } from './series-paths.js';

/** The click that ends a drag follows it within this time. */
const CLICK_OF_DRAG_MS = 300;

/** A chart over time: lines, bars and points of `timeseries`, candles of `candlestick`. */
export function drawTimeChart(context: PanelContext): Drawn {
  const data = chartDataOf(context);
  const noValue = asText(context.config.defaults['noValue']) ?? 'no data in this time';
  if (!data || (data.isEmpty && data.missing.length === 0)) return { element: h('p', { className: 'empty' }, noValue) };
  const chart = new TimeChart(context, data);
  // What is missing stays visible below the text.
  if (data.isEmpty) chart.element.append(h('p', { className: 'empty over' }, noValue));
  return {
    element: chart.element,
    note: data.isCompletenessKnown ? '' : 'completeness not known',
    resize: (width, height) => chart.resize(width, height),
    destroy: () => chart.destroy(),
  };
}

class TimeChart {
  readonly element: HTMLElement;
  readonly #holder = h('div', { className: 'chart' });
  #plot: uPlot | undefined;
  #zoomedAt = Number.NEGATIVE_INFINITY;
  #tapped: number | undefined;

  constructor(
    private readonly context: PanelContext,
    private readonly data: ChartData,
  ) {
    const isRight = asRecord(context.panel.options['legend'])['placement'] === 'right';
    this.element = h('div', { className: `with-legend${isRight ? ' right' : ''}` }, this.#holder);
    const legend = drawLegend(data, context);
    if (legend) this.element.append(legend);
  }

  resize(width: number, height: number): void {
    const { clientWidth, clientHeight } = this.#holder;
    const size = { width: clientWidth || width, height: clientHeight || height };
    if (this.#plot) this.#plot.setSize(size);
    else this.#plot = this.#create(size);
  }

  destroy(): void {
    if (this.#plot) hideTooltip(this.#plot);
    this.#plot?.destroy();
  }

  #create(size: { width: number; height: number }): uPlot {
    const { context, data } = this;
    const options: uPlot.Options = {
      ...size,
      padding: [8, besideLabels, 0, data.isEmpty ? besideLabels : 0],
      legend: { show: false },
      cursor: {
        drag: { x: true, y: false, setScale: false },
        dataIdx: (_, __, ___, seconds) => rowAt(data.times, seconds * 1000, data.drawnMs) ?? null,
        points: { show: !isCandlestick(context), size: 6 },
        sync: SYNC,
      },
      scales: scalesOf(data, context),
      axes: axesOf(data, context.theme),
      series: [{}, ...data.series.map((series) => plottedSeries(series, context))],
      hooks: {
        drawClear: [
          (plot) => drawThresholds(plot, data, context),
          (plot) => drawBackground(plot, data.missing, context),
        ],
        draw: [(plot) => drawCandles(plot, data, context)],
        setSelect: [(plot) => this.#zoom(plot)],
        setCursor: [(plot) => this.#hover(plot)],
      },
    };
    const plot = new uPlot(options, alignedData(data), this.#holder);
    if (this.#linked) {
      plot.over.style.cursor = 'pointer';
      plot.over.addEventListener('click', (event) => this.#click(event, this.#rowAt(plot, event.offsetX)));
    }
    return plot;
  }

  /** The first field with a data link. */
  get #linked() {
    return this.data.fields.find(({ display }) => display.links.length > 0 && display.field.kind !== 'time');
  }

  /** The first tap on a time shows its tooltip, which a finger has no other way to see. */
  #click(event: MouseEvent, row: number | undefined): void {
    const isFirstTap = event instanceof PointerEvent && event.pointerType === 'touch' && row !== this.#tapped;
    this.#tapped = row;
    if (!isFirstTap) this.#follow(row);
  }

  /** Opens the data link of the time that was clicked. (The chart may be newer than the last move of the pointer.) */
  #follow(index: number | undefined): void {
    const time = this.data.times[index ?? -1];
    const { display, of } = this.#linked ?? {};
    const row = time === undefined ? -1 : (of?.times.indexOf(time) ?? -1);
    const link = display?.links[0];
    if (!link || row < 0 || performance.now() - this.#zoomedAt < CLICK_OF_DRAG_MS) return;
    const fields = this.data.fields.filter((one) => one.of === of).map((one) => one.display.field);
    const values = fields.map((field) => [field.name, String(field.values[row] ?? '')]);
    const { links, navigate } = this.context;
    const value = String(display?.field.values[row] ?? '');
    const context = { ...links, row: Object.fromEntries(values), value, time: String(time) };
    if (this.#plot) hideTooltip(this.#plot);
    anchorOf(link.url, link.title, { context, navigate })?.click();
  }

  #zoom(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 3) return;
    const from = Math.round(plot.posToVal(left, 'x') * 1000);
    const to = Math.round(plot.posToVal(left + width, 'x') * 1000);
    this.#zoomedAt = performance.now();
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.context.onZoom(from, to);
  }

  /** The row that is drawn at a position, pixels from the left. */
  #rowAt(plot: uPlot, left: number): number | undefined {
    const { times, drawnMs } = this.data;
    return rowAt(times, plot.posToVal(left, 'x') * 1000, drawnMs);
  }

  #hover(plot: uPlot): void {
    const { left = -1, event } = plot.cursor;
    const row = this.#rowAt(plot, left);
    // A cursor that follows that of another chart has no event: only one tooltip is shown.
    if (!event || left < 0 || row === undefined || !isUnderPointer(plot.over)) {
      if (event) leaveTooltip(plot);
      return;
    }
    const time = this.data.times[row] ?? 0;
    const hoveredMs = plot.posToVal(left, 'x') * 1000;
    const notes = annotationsOf(this.context)
      .filter(({ from, to }) => hoveredMs >= from && hoveredMs <= to)
      .map(({ text }) => text)
      .concat(this.#linked?.display.links.slice(0, 1).map(({ title }) => `Click: ${title}`) ?? []);
    showTooltip(plot, { title: formatTime(time), lines: this.#tooltipLines(time), notes }, event);
  }

  #tooltipLines(time: number) {
    const { fields, series } = this.data;
    return fields.flatMap(({ display, of }) => {
      if (display.field.kind === 'time' || isHiddenFrom(display, 'tooltip')) return [];
      const row = of.times.indexOf(time);
      const value = display.field.values[row];
      if (row < 0 || value === undefined || (value === null && isCompleteness(display.field.name))) return [];
      const { text, suffix } = formatValue(value, display);
      // Open, high, low and close are one candle, in none of their colors.
      const color = series.find((one) => one.display.field === display.field && !one.isOhlc)?.color;
      return [{ name: display.name, value: value === null ? '–' : `${text}${suffix}`, color }];
    });
  }
}

/** One row per time of any frame, as uPlot wants it: seconds, then the values of each series. */
function alignedData({ times, series }: ChartData): uPlot.AlignedData {
  const rowOf = new Map(times.map((time, row) => [time, row]));
  return [times.map((time) => time / 1000), ...series.map((one) => alignedValues(one, rowOf))];
}

function alignedValues({ of, values: drawn }: Series, rowOf: ReadonlyMap<number, number>): (number | null)[] {
  const values = new Array<number | null>(rowOf.size).fill(null);
  for (const [row, time] of of.times.entries()) {
    const value = drawn[row];
    const isDrawn = typeof value === 'number' && !isAllMissing(of.completeness, row);
    values[rowOf.get(time) ?? 0] = isDrawn ? value : null;
  }
  return values;
}
