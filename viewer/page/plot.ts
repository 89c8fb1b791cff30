import uPlot from 'uplot';
import { axisSteps, numberLabels, tickSpace } from '../display/axis-labels.js';
import { shown } from '../display/safe-text.js';
import { shortNames } from '../display/short-names.js';
import { h } from './dom.js';
import type { Drawn, PanelContext } from './panel-context.js';
import { isUnderPointer } from './redrawn.js';
import { AXIS_FONT, axisName, axisSize, axisStyle, besideLabels, SYNC, timeAxis } from './time-chart/axes.js';
import { clipped } from './time-chart/layers.js';
import { hideTooltip, leaveTooltip, showTooltip } from './tooltip.js';

/** What an axis measures: Unix milliseconds, numbers, or names: the one at `i` lies between `i` and `i + 1`. */
export type PlotAxis =
  | { readonly kind: 'time'; readonly range: readonly [number, number] }
  | {
      readonly kind: 'number';
      readonly range: readonly [number, number];
      readonly unit: string | undefined;
      readonly name?: string | undefined;
    }
  | { readonly kind: 'names'; readonly names: readonly string[]; readonly reversed?: boolean };

/** What the pointer is at. */
export interface Hovered {
  readonly title: string;
  readonly lines: readonly { readonly name: string; readonly value: string; readonly color: string | undefined }[];
}

export interface PlotOptions {
  readonly x: PlotAxis;
  readonly y: PlotAxis;
  /** Draws over the grid's lines, clipped to the area of the axes. */
  readonly draw: (area: PlotArea) => void;
  /** @param x, y in the units of the axes; `near` is how far 12 pixels are on both */
  readonly hover: (x: number, y: number, near: { readonly x: number; readonly y: number }) => Hovered | undefined;
  readonly legend?: HTMLElement | undefined;
  readonly note?: string;
}

/** Where to draw, in the pixels of the canvas. */
export interface PlotArea {
  readonly plot: uPlot;
  readonly ctx: CanvasRenderingContext2D;
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

const MAX_NAME = 28;
/** The same beside a plot that is narrower than this, in pixels. */
const NARROW = 500;
const MAX_NARROW_NAME = 15;
const HOVER_PX = 12;

/** A chart with axes, a tooltip, and content of its own. Dragging over an axis of time zooms. */
export function drawPlot(options: PlotOptions, context: PanelContext): Drawn {
  const holder = h('div', { className: 'chart' });
  let plot: uPlot | undefined;
  return {
    element: h('div', { className: 'with-legend' }, holder, options.legend),
    ...(options.note === undefined ? {} : { note: options.note }),
    resize: (width, height) => {
      const size = { width: holder.clientWidth || width, height: holder.clientHeight || height };
      if (plot) plot.setSize(size);
      else plot = createPlot(holder, size, options, context);
    },
    destroy: () => {
      if (plot) hideTooltip(plot);
      plot?.destroy();
    },
  };
}

function createPlot(
  holder: HTMLElement,
  size: { width: number; height: number },
  { x, y, draw, hover }: PlotOptions,
  context: PanelContext,
): uPlot {
  const isTime = x.kind === 'time';
  const factor = isTime ? 1000 : 1;
  const area = (plot: uPlot): PlotArea => ({
    plot,
    ctx: plot.ctx,
    x: (value) => plot.valToPos(value / factor, 'x', true),
    y: (value) => plot.valToPos(value, 'y', true),
  });
  return new uPlot(
    {
      ...size,
      padding: [8, x.kind === 'names' ? 12 : besideLabels, 0, 0],
      legend: { show: false },
      cursor: {
        drag: { x: isTime, y: false, setScale: false },
        x: isTime,
        points: { show: false },
        ...(isTime ? { sync: SYNC } : {}),
      },
      scales: {
        x: { time: isTime, range: () => rangeOf(x, factor) },
        y: { range: () => rangeOf(y, 1), dir: y.kind === 'names' && y.reversed ? -1 : 1 },
      },
      axes: [
        isTime ? timeAxis(context.theme) : { ...plotAxis(x, context, false), size: 28, gap: 6 },
        { ...plotAxis(y, context, true), size: axisSize, gap: 4 },
      ],
      series: [{}, { scale: 'y', paths: () => null, points: { show: false } }],
      hooks: {
        drawAxes: [(plot) => clipped(plot, () => draw(area(plot)))],
        setSelect: [(plot) => zoom(plot, context)],
        setCursor: [(plot) => showHovered(plot, factor, hover)],
      },
    },
    [rangeOf(x, factor), [null, null]],
    holder,
  );
}

function rangeOf(axis: PlotAxis, factor: number): [number, number] {
  if (axis.kind === 'names') return [0, Math.max(1, axis.names.length)];
  const [from, to] = axis.range;
  return [from / factor, Math.max(to, from + (from === to ? 1 : 0)) / factor];
}

function plotAxis(axis: PlotAxis, { theme }: PanelContext, isVertical: boolean): uPlot.Axis {
  const style = axisStyle(theme);
  if (axis.kind !== 'names') {
    const unit = axis.kind === 'number' ? axis.unit : undefined;
    const incrs = axisSteps(unit);
    return {
      ...style,
      ...(axis.kind === 'number' ? axisName(axis.name) : {}),
      values: (_: uPlot, splits: number[]) => numberLabels(unit, splits),
      ...(isVertical
        ? {}
        : {
            space: (_: uPlot, __: number, min: number, max: number, length: number) =>
              tickSpace(unit, min, max, length),
          }),
      ...(incrs ? { incrs } : {}),
    };
  }
  const { names } = axis;
  const shownNames = names.map(shown);
  const labels = ({ width }: uPlot) =>
    shortNames(shownNames, isVertical && width < NARROW ? MAX_NARROW_NAME : MAX_NAME);
  return {
    ...style,
    grid: { show: false },
    splits: (plot: uPlot) => {
      const length = isVertical ? plot.height - 40 : plot.width - 60;
      const longest = Math.max(2, ...labels(plot).map(({ length }) => length)) * 6.4 + 10;
      const every = Math.max(1, Math.ceil((names.length * (isVertical ? 14 : longest)) / Math.max(1, length)));
      return names.flatMap((_, i) => (i % every === 0 ? [i + 0.5] : []));
    },
    values: (plot: uPlot, splits: number[]) => {
      const short = labels(plot);
      return splits.map((at) => short[Math.floor(at)] ?? '');
    },
    filter: (_: uPlot, splits: number[]) => splits,
    font: AXIS_FONT,
  };
}

function zoom(plot: uPlot, context: PanelContext): void {
  const { left, width } = plot.select;
  if (width < 3) return;
  const at = (position: number) => Math.round(plot.posToVal(position, 'x') * 1000);
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  context.onZoom(at(left), at(left + width));
}

function showHovered(plot: uPlot, factor: number, hover: PlotOptions['hover']): void {
  const { left = -1, top = -1, event } = plot.cursor;
  // A cursor that follows that of another chart has no event.
  if (!event) return;
  const at = (x: number, y: number) => ({ x: plot.posToVal(x, 'x') * factor, y: plot.posToVal(y, 'y') });
  const here = at(left, top);
  const beside = at(left + HOVER_PX, top + HOVER_PX);
  const near = { x: Math.abs(beside.x - here.x), y: Math.abs(beside.y - here.y) };
  const found = left < 0 || !isUnderPointer(plot.over) ? undefined : hover(here.x, here.y, near);
  if (found) showTooltip(plot, { ...found, notes: [] }, event);
  else leaveTooltip(plot);
}
