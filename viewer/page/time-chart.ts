import uPlot from 'uplot';
import { colorOf, seriesColor } from '../display/colors.js';
import {
  asRecord,
  asText,
  type Display,
  displaysOf,
  formatValue,
  isHiddenFrom,
  reduceValues,
} from '../display/fields.js';
import {
  type Bar,
  barsOf,
  type Candle,
  type Completeness,
  candlesOf,
  completenessOf,
  isCompleteness,
  type MissingStretch,
  missingStretches,
  strokesOf,
} from '../display/strokes.js';
import { formatNumber, formatTime } from '../display/units.js';
import type { Frame, Value } from '../frames.js';
import { h } from './dom.js';
import type { Drawn, PanelContext } from './panel-context.js';
import { hideTooltip, showTooltip } from './tooltip.js';

/** A frame with its times. */
interface TimeFrame {
  readonly frame: Frame;
  readonly times: readonly number[];
  readonly completeness: Completeness | undefined;
}

interface Series {
  readonly display: Display;
  readonly of: TimeFrame;
  readonly color: string;
  readonly scale: string;
  readonly bars: readonly Bar[] | undefined;
}

const VOLUME_PART = 0.22;

/** A chart over time: lines, bars and points of `timeseries`, candles of `candlestick`. */
export function drawTimeChart(context: PanelContext): Drawn {
  const frames = context.frames.flatMap((frame): TimeFrame[] => {
    const time = frame.fields.find(({ kind }) => kind === 'time');
    if (!time || time.values.length === 0) return [];
    return [{ frame, times: time.values.map(Number), completeness: completenessOf(frame) }];
  });
  const noValue = asText(context.config.defaults['noValue']) ?? 'no data in this time';
  if (frames.length === 0) return { element: h('p', { className: 'empty' }, noValue) };
  const chart = new TimeChart(context, frames);
  // One query of a panel may have it for all of them.
  const isKnown = frames.some(({ completeness }) => completeness !== undefined);
  return {
    element: chart.element,
    note: isKnown ? '' : 'completeness not known',
    resize: (width, height) => chart.resize(width, height),
    destroy: () => chart.destroy(),
  };
}

class TimeChart {
  readonly element: HTMLElement;
  readonly #holder = h('div', { className: 'chart' });
  readonly #times: readonly number[];
  readonly #displays: readonly { display: Display; of: TimeFrame }[];
  readonly #series: readonly Series[];
  readonly #stretches: readonly MissingStretch[];
  readonly #candles: readonly Candle[];
  #plot: uPlot | undefined;

  constructor(
    private readonly context: PanelContext,
    private readonly frames: readonly TimeFrame[],
  ) {
    this.#times = [...new Set(frames.flatMap(({ times }) => times))].sort((a, b) => a - b);
    this.#displays = frames.flatMap((of) => displaysOf([of.frame], context.config).map((display) => ({ display, of })));
    this.#candles = this.#isCandlestick ? this.#candlesOf() : [];
    this.#series = this.#seriesOf();
    this.#stretches = frames.flatMap((of) =>
      of.completeness ? missingStretches(of.times, this.#widthOf(of), of.completeness) : [],
    );
    const { element, legend } = this.#layout();
    this.element = element;
    if (legend) element.append(legend);
  }

  get #isCandlestick(): boolean {
    return this.context.panel.type === 'candlestick';
  }

  resize(width: number, height: number): void {
    const { clientWidth, clientHeight } = this.#holder;
    const size = { width: clientWidth || width, height: clientHeight || height };
    if (this.#plot) this.#plot.setSize(size);
    else this.#plot = this.#create(size);
  }

  destroy(): void {
    hideTooltip();
    this.#plot?.destroy();
  }

  /** Width of the buckets of a frame: candles have their own, and so may a query that says how complete its buckets are. */
  #widthOf({ times, completeness }: TimeFrame): number {
    let least = Number.POSITIVE_INFINITY;
    for (let i = 1; i < times.length; i++) least = Math.min(least, (times[i] ?? 0) - (times[i - 1] ?? 0));
    const isOwn = this.#isCandlestick || completeness !== undefined;
    return Number.isFinite(least) && isOwn ? least : this.context.bucketMs;
  }

  #fieldOf(frame: TimeFrame, name: string): readonly Value[] {
    const names = asRecord(this.context.panel.options['fields']);
    const wanted = asText(names[name]) ?? name;
    return frame.frame.fields.find((field) => field.name === wanted)?.values ?? [];
  }

  #candlesOf(): Candle[] {
    return this.frames.flatMap((of) => {
      const [open, high, low, close] = [
        this.#fieldOf(of, 'open'),
        this.#fieldOf(of, 'high'),
        this.#fieldOf(of, 'low'),
        this.#fieldOf(of, 'close'),
      ];
      return candlesOf(of.times, { open, high, low, close }, this.#widthOf(of), of.completeness);
    });
  }

  #seriesOf(): Series[] {
    const { theme, hiddenSeries } = this.context;
    const shown = this.#displays.filter(
      ({ display }) =>
        display.field.kind === 'number' && !isCompleteness(display.field.name) && !isHiddenFrom(display, 'viz'),
    );
    const bases = new Map<string, number[]>();
    return shown.map(({ display, of }, i): Series => {
      const isHidden = hiddenSeries.has(display.name);
      const color =
        display.fixedColor && display.colorMode === 'fixed'
          ? colorOf(display.fixedColor, theme)
          : seriesColor(i, theme);
      const isVolume = this.#isCandlestick && this.#fieldOf(of, 'volume') === display.field.values;
      const drawsBars = isVolume || display.custom['drawStyle'] === 'bars';
      const stacking = asRecord(display.custom['stacking']);
      const isStacked = stacking['mode'] === 'normal';
      const group = `${of.frame.refId}${String(stacking['group'])}`;
      const base = isStacked ? (bases.get(group) ?? new Array<number>(of.times.length).fill(0)) : undefined;
      const width = this.#widthOf(of);
      const bars =
        drawsBars && !isHidden ? barsOf(of.times, display.field.values, width, of.completeness, base) : undefined;
      if (isStacked && base && !isHidden) {
        bases.set(
          group,
          base.map((sum, row) => sum + Number(display.field.values[row] ?? 0)),
        );
      }
      const scale = isVolume ? 'volume' : `y ${display.unit ?? ''}`;
      return { display, of, color, scale, bars };
    });
  }

  #layout(): { element: HTMLElement; legend: HTMLElement | undefined } {
    const options = asRecord(this.context.panel.options['legend']);
    const right = options['placement'] === 'right';
    const element = h('div', { className: `with-legend${right ? ' right' : ''}` }, this.#holder);
    return { element, legend: options['showLegend'] === false ? undefined : this.#legend(options) };
  }

  #legend(options: Readonly<Record<string, unknown>>): HTMLElement {
    const calculations = Array.isArray(options['calcs']) ? options['calcs'].map(String) : [];
    const shown = this.#series.filter(({ display }) => !isHiddenFrom(display, 'legend') && !this.#isOhlc(display));
    const legend = h('div', { className: 'legend' });
    if (options['displayMode'] === 'table' && calculations.length > 0) {
      const heads = calculations.map((name) => h('th', { className: 'number' }, CALCULATIONS[name] ?? name));
      const rows = shown.map((series) =>
        h(
          'tr',
          {},
          h('td', {}, this.#toggle(series)),
          ...calculations.map((name) => {
            const value = reduceValues(series.display.field.values, name);
            const { text, suffix } = formatValue(value, series.display, this.context.to);
            return h('td', { className: 'number' }, `${text}${suffix}`);
          }),
        ),
      );
      legend.append(h('table', {}, h('thead', {}, h('tr', {}, h('th'), ...heads)), h('tbody', {}, ...rows)));
    } else legend.append(...shown.map((series) => this.#toggle(series)));
    if (this.#stretches.length > 0)
      legend.append(
        h('button', { type: 'button', disabled: true }, h('span', { className: 'swatch hatch' }), 'missing'),
      );
    return legend;
  }

  #isOhlc({ field }: Display): boolean {
    if (!this.#isCandlestick) return false;
    const names = asRecord(this.context.panel.options['fields']);
    return ['open', 'high', 'low', 'close'].some((name) => field.name === (asText(names[name]) ?? name));
  }

  #toggle({ display, color }: Series): HTMLButtonElement {
    const { hiddenSeries } = this.context;
    const swatch = h('span', { className: 'swatch' });
    swatch.style.background = color;
    const pressed = String(!hiddenSeries.has(display.name));
    const toggle = h(
      'button',
      { type: 'button', title: `Show or hide ${display.name}`, attributes: { 'aria-pressed': pressed } },
      swatch,
      display.name,
    );
    toggle.addEventListener('click', () => {
      if (hiddenSeries.has(display.name)) hiddenSeries.delete(display.name);
      else hiddenSeries.add(display.name);
      this.element.dispatchEvent(new CustomEvent('redraw', { bubbles: true }));
    });
    return toggle;
  }

  #create(size: { width: number; height: number }): uPlot {
    const { from, to, theme } = this.context;
    const indexOf = new Map(this.#times.map((time, i) => [time, i]));
    const data: uPlot.AlignedData = [
      this.#times.map((time) => time / 1000),
      ...this.#series.map(({ of, display }) => {
        const values = new Array<number | null>(this.#times.length).fill(null);
        for (const [row, time] of of.times.entries()) {
          const value = display.field.values[row];
          values[indexOf.get(time) ?? 0] = typeof value === 'number' ? value : null;
        }
        return values;
      }),
    ];
    const grid = theme === 'dark' ? '#ffffff14' : '#00000014';
    const stroke = theme === 'dark' ? '#9aa3b2' : '#59626f';
    const font = '11px system-ui, "Open Sans", sans-serif';
    const axis = { stroke, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
    const scales = [...new Set(this.#series.map(({ scale }) => scale))];
    const visible = scales.filter((scale) => scale !== 'volume');
    return new uPlot(
      {
        ...size,
        padding: [8, 8, 0, 0],
        legend: { show: false },
        cursor: {
          drag: { x: true, y: false, setScale: false },
          points: { show: !this.#isCandlestick, size: 6 },
          sync: { key: 'chancery', setSeries: false },
        },
        scales: {
          x: { time: true, range: () => [from / 1000, Math.max(to, from + 1) / 1000] },
          ...Object.fromEntries(scales.map((scale) => [scale, { range: this.#rangeOf(scale) }])),
        },
        axes: [
          { ...axis, space: 70, size: 28, gap: 6, values: timeLabels },
          ...visible.map((scale, i) => ({
            ...axis,
            scale,
            side: i === 0 ? 3 : 1,
            size: axisSize,
            gap: 4,
            grid: { ...axis.grid, show: i === 0 },
            values: (_: uPlot, splits: number[]) => this.#labels(scale, splits),
          })),
        ],
        series: [{}, ...this.#series.map((series) => this.#uplotSeries(series))],
        hooks: {
          drawClear: [(plot) => this.#drawBackground(plot)],
          draw: [(plot) => this.#drawCandles(plot)],
          setSelect: [(plot) => this.#zoom(plot)],
          setCursor: [(plot) => this.#hover(plot)],
        },
      },
      data,
      this.#holder,
    );
  }

  #uplotSeries(series: Series): uPlot.Series {
    const { display, color, scale } = series;
    const { custom } = display;
    const isOhlc = this.#isOhlc(display);
    const lineWidth = typeof custom['lineWidth'] === 'number' ? custom['lineWidth'] : 1;
    const opacity = typeof custom['fillOpacity'] === 'number' ? custom['fillOpacity'] : 0;
    const alpha = Math.round((series.bars ? Math.max(opacity, 40) : opacity) * 2.55)
      .toString(16)
      .padStart(2, '0');
    const isHidden = this.context.hiddenSeries.has(display.name) || isOhlc;
    return {
      scale,
      stroke: color,
      width: series.bars ? 0 : lineWidth,
      ...(opacity > 0 || series.bars ? { fill: `${color}${alpha}` } : {}),
      paths: isHidden
        ? () => null
        : (plot) => (series.bars ? barPaths(plot, scale, series.bars) : this.#linePaths(plot, series)),
      points: { show: !isHidden && !series.bars && this.#showsPoints(series), size: 4, fill: color },
    };
  }

  /** Points of their own only where there are few: a lone value must be visible. */
  #showsPoints({ display, of }: Series): boolean {
    const mode = display.custom['showPoints'];
    if (mode === 'never') return false;
    return mode === 'always' || of.times.length <= 20;
  }

  #linePaths(plot: uPlot, { display, of, scale }: Series): uPlot.Series.Paths {
    const { custom, field } = display;
    const interpolation = asText(custom['lineInterpolation']) ?? 'linear';
    const spans = custom['spanNulls'];
    const lines = strokesOf({
      times: of.times,
      values: field.values,
      bucketMs: this.#widthOf(of),
      completeness: of.completeness,
      step: interpolation.startsWith('step'),
      spanNulls: typeof spans === 'number' ? spans : spans === true,
    });
    const stroke = new Path2D();
    const fill = new Path2D();
    const zero = plot.valToPos(Math.max(0, plot.scales[scale]?.min ?? 0), scale, true);
    for (const line of lines) {
      let x = 0;
      for (let i = 0; i < line.length; i += 2) {
        x = plot.valToPos((line[i] ?? 0) / 1000, 'x', true);
        const y = plot.valToPos(line[i + 1] ?? 0, scale, true);
        if (i === 0) {
          stroke.moveTo(x, y);
          fill.moveTo(x, zero);
        } else stroke.lineTo(x, y);
        fill.lineTo(x, y);
      }
      fill.lineTo(x, zero);
      fill.closePath();
    }
    return { stroke, fill, clip: null, band: null, gaps: [], flags: 3 };
  }

  /** The extent of what is drawn on a scale, with the minimum and maximum of its fields. */
  #rangeOf(scale: string): uPlot.Range.Function {
    return () => {
      let low = Number.POSITIVE_INFINITY;
      let high = Number.NEGATIVE_INFINITY;
      let min: number | undefined;
      let max: number | undefined;
      for (const series of this.#series) {
        if (series.scale !== scale || this.context.hiddenSeries.has(series.display.name)) continue;
        min = series.display.min ?? min;
        max = series.display.max ?? max;
        if (series.bars) {
          low = Math.min(low, 0);
          for (const bar of series.bars) high = Math.max(high, bar.high);
          continue;
        }
        for (const value of series.display.field.values) {
          if (typeof value !== 'number') continue;
          low = Math.min(low, value);
          high = Math.max(high, value);
        }
      }
      if (low > high) return [min ?? 0, max ?? 1];
      if (scale === 'volume') return [0, (high || 1) / VOLUME_PART];
      const pad = (high - low || Math.abs(high) || 1) * 0.06;
      const bottom = min ?? (low >= 0 && low < pad * 4 ? 0 : low - pad);
      return [Math.min(bottom, low), Math.max(max ?? high + pad, high)];
    };
  }

  #labels(scale: string, splits: readonly number[]): string[] {
    const display = this.#series.find((series) => series.scale === scale)?.display;
    const step = Math.abs((splits[1] ?? 1) - (splits[0] ?? 0));
    const factor = display?.unit === 'percentunit' ? 100 : 1;
    const decimals = Math.max(0, Math.min(6, -Math.floor(Math.log10(step * factor || 1) + 1e-9)));
    const isScaled = display?.unit !== undefined && !/^(suffix:|prefix:|percent|short|none|locale)/.test(display.unit);
    return splits.map((value) => {
      const { text, suffix } = formatNumber(value, display?.unit, isScaled ? undefined : decimals);
      return suffix.length > 5 ? text : `${text}${suffix}`;
    });
  }

  #drawBackground(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const color = this.context.theme === 'dark' ? '#f2495c' : '#c4162a';
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const { from, to, all } of this.#stretches) {
      const left = plot.valToPos(from / 1000, 'x', true);
      const right = plot.valToPos(to / 1000, 'x', true);
      hatch(ctx, { left, right, top: bbox.top, bottom: bbox.top + bbox.height }, color, all);
    }
    for (const { from, to } of this.#annotated()) {
      const left = plot.valToPos(from / 1000, 'x', true);
      const right = plot.valToPos(to / 1000, 'x', true);
      ctx.fillStyle = color;
      ctx.fillRect(left, bbox.top, Math.max(2, right - left), 3 * devicePixelRatio);
    }
    ctx.restore();
  }

  #annotated(): { from: number; to: number; text: string }[] {
    return this.context.annotations.flatMap(({ frame }) => {
      const column = (name: string) => frame?.fields.find((field) => field.name === name)?.values ?? [];
      const [times, ends, texts] = [column('time'), column('timeEnd'), column('text')];
      return times.map((time, i) => ({
        from: Number(time),
        to: Number(ends[i] ?? time),
        text: String(texts[i] ?? ''),
      }));
    });
  }

  #drawCandles(plot: uPlot): void {
    if (this.#candles.length === 0) return;
    const { ctx, bbox } = plot;
    const scale = this.#series.find(({ display }) => this.#isOhlc(display))?.scale ?? '';
    const colors = asRecord(this.context.panel.options['colors']);
    const up = colorOf(asText(colors['up']) ?? 'green', this.context.theme);
    const down = colorOf(asText(colors['down']) ?? 'red', this.context.theme);
    const y = (value: number) => Math.round(plot.valToPos(value, scale, true));
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const { from, to, open, high, low, close, idle } of this.#candles) {
      const left = plot.valToPos(from / 1000, 'x', true);
      const right = plot.valToPos(to / 1000, 'x', true);
      const inset = Math.min(2, (right - left) * 0.15);
      const width = Math.max(1, right - left - 2 * inset);
      const color = idle ? colorOf('gray', this.context.theme) : close >= open ? up : down;
      ctx.fillStyle = color;
      const line = Math.max(1, Math.round(devicePixelRatio));
      if (!idle) ctx.fillRect(Math.round((left + right - line) / 2), y(high), line, Math.max(1, y(low) - y(high)));
      const top = y(Math.max(open, close));
      const height = Math.max(line, y(Math.min(open, close)) - top);
      if (close >= open && !idle && height > 3 * line && width > 3 * line) {
        // Rising candles are hollow: color alone would not tell them from falling ones.
        ctx.clearRect(left + inset, top, width, height);
        ctx.lineWidth = line;
        ctx.strokeStyle = color;
        ctx.strokeRect(left + inset + line / 2, top + line / 2, width - line, height - line);
      } else ctx.fillRect(left + inset, top, width, height);
    }
    ctx.restore();
  }

  #zoom(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 3) return;
    const from = Math.round(plot.posToVal(left, 'x') * 1000);
    const to = Math.round(plot.posToVal(left + width, 'x') * 1000);
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.context.onZoom(from, to);
  }

  #hover(plot: uPlot): void {
    const { idx, left = -1, event } = plot.cursor;
    // A cursor that follows that of another chart has no event: only one tooltip is shown.
    if (!event || left < 0 || idx === null || idx === undefined || !plot.over.matches(':hover')) {
      if (event) hideTooltip();
      return;
    }
    const time = this.#times[idx] ?? 0;
    const at = plot.posToVal(left, 'x') * 1000;
    const lines = this.#displays.flatMap(({ display, of }) => {
      if (display.field.kind === 'time' || isHiddenFrom(display, 'tooltip')) return [];
      const row = of.times.indexOf(time);
      const value = display.field.values[row];
      if (row < 0 || value === undefined || (value === null && isCompleteness(display.field.name))) return [];
      const { text, suffix } = formatValue(value, display, this.context.to);
      const color = this.#series.find((series) => series.display.field === display.field)?.color;
      return [{ name: display.name, value: value === null ? '–' : `${text}${suffix}`, color }];
    });
    const notes = this.#annotated()
      .filter(({ from, to }) => at >= from && at <= to)
      .map(({ text }) => text);
    showTooltip(formatTime(time), lines, notes, event.clientX, event.clientY);
  }
}

const CALCULATIONS: Readonly<Record<string, string>> = {
  lastNotNull: 'Last',
  last: 'Last',
  max: 'Max',
  min: 'Min',
  mean: 'Mean',
  sum: 'Total',
};

function barPaths(plot: uPlot, scale: string, bars: readonly Bar[]): uPlot.Series.Paths {
  const path = new Path2D();
  for (const { from, to, low, high } of bars) {
    const left = plot.valToPos(from / 1000, 'x', true);
    const right = plot.valToPos(to / 1000, 'x', true);
    const gap = Math.min(2, (right - left) * 0.15);
    const top = plot.valToPos(high, scale, true);
    path.rect(left + gap / 2, top, Math.max(1, right - left - gap), plot.valToPos(low, scale, true) - top);
  }
  return { stroke: path, fill: path, clip: null, band: null, gaps: [], flags: 3 };
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Diagonal lines at the same distance everywhere, close where all of the time is missing. */
function hatch(ctx: CanvasRenderingContext2D, { left, right, top, bottom }: Box, color: string, all: boolean): void {
  const distance = (all ? 6 : 14) * devicePixelRatio;
  const height = bottom - top;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, Math.max(1, right - left), height);
  ctx.clip();
  ctx.fillStyle = `${color}${all ? '26' : '12'}`;
  ctx.fillRect(left, top, Math.max(1, right - left), height);
  ctx.beginPath();
  for (let x = Math.floor((left - height) / distance) * distance; x < right; x += distance) {
    ctx.moveTo(x, bottom);
    ctx.lineTo(x + height, top);
  }
  ctx.strokeStyle = `${color}${all ? '99' : '59'}`;
  ctx.lineWidth = devicePixelRatio;
  ctx.stroke();
  ctx.restore();
}

const DAY_S = 86_400;

function timeLabels(_: uPlot, splits: number[], __: number, ___: number, increment: number): string[] {
  return splits.map((seconds) => {
    const text = formatTime(seconds * 1000, increment < 1);
    if (increment >= DAY_S) return text.slice(5, 10);
    if (increment < 1) return text.slice(14);
    const isMidnight = text.slice(11, 19) === '00:00:00';
    if (isMidnight) return text.slice(5, 10);
    return increment >= 60 ? text.slice(11, 16) : text.slice(11, 19);
  });
}

/** As wide as the longest label. */
function axisSize(plot: uPlot, values: string[] | null): number {
  const longest = Math.max(2, ...(values ?? []).map((text) => text.length));
  return plot.width < 260 ? Math.min(46, longest * 6.2 + 8) : longest * 6.2 + 10;
}
