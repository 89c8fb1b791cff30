import type uPlot from 'uplot';
import { traceAreas, traceBars, traceLines } from '../../display/series-shapes.js';
import { areaOf, type Bar, type StrokeOptions, strokesOf } from '../../display/strokes.js';
import type { PanelContext } from '../panel-context.js';
import { isStepped, type Series } from './chart-data.js';
import { projectionOf } from './layers.js';

/** How uPlot draws a series: as a line with an area, as bars, or not at all. */
export function plottedSeries(series: Series, { hiddenSeries }: PanelContext): uPlot.Series {
  const { display, color, scale, bars } = series;
  const { custom } = display;
  const lineWidth = typeof custom['lineWidth'] === 'number' ? custom['lineWidth'] : 1;
  const opacity = typeof custom['fillOpacity'] === 'number' ? custom['fillOpacity'] : 0;
  const alpha = Math.round((bars ? Math.max(opacity, 40) : opacity) * 2.55)
    .toString(16)
    .padStart(2, '0');
  const isDrawn = !hiddenSeries.has(display.name) && !series.isOhlc;
  const hasPath = isDrawn && custom['drawStyle'] !== 'points';
  const paths = (plot: uPlot) => (bars ? barPaths(plot, scale, bars) : linePaths(plot, series));
  return {
    scale,
    stroke: color,
    width: bars ? 0 : lineWidth,
    ...(opacity > 0 || bars ? { fill: `${color}${alpha}` } : {}),
    paths: hasPath ? paths : () => null,
    points: { show: isDrawn && !bars && showsPoints(series), size: 4, fill: color },
  };
}

/** Points of their own only where there are few: a lone value must be visible. */
function showsPoints({ display, of }: Series): boolean {
  const mode = display.custom['showPoints'];
  if (display.custom['drawStyle'] === 'points') return true;
  if (mode === 'never') return false;
  return mode === 'always' || of.times.length <= 20;
}

function linePaths(plot: uPlot, { display, of, scale, values, band, lower }: Series): uPlot.Series.Paths {
  const { custom } = display;
  const spans = custom['spanNulls'];
  const options: StrokeOptions = {
    times: of.times,
    values: band ?? values,
    bucketMs: of.bucketMs,
    completeness: of.completeness,
    step: isStepped(display),
    spanNulls: typeof spans === 'number' ? spans : spans === true,
  };
  const stroke = new Path2D();
  const fill = new Path2D();
  const zero = plot.valToPos(Math.max(0, plot.scales[scale]?.min ?? 0), scale, true);
  const projection = projectionOf(plot, scale);
  traceLines(strokesOf(options), projection, zero, { stroke, fill: lower ? new Path2D() : fill });
  if (lower) traceAreas(areaOf(options, lower), projection, fill);
  return { stroke, fill, clip: null, band: null, gaps: [], flags: 3 };
}

function barPaths(plot: uPlot, scale: string, bars: readonly Bar[]): uPlot.Series.Paths {
  const path = new Path2D();
  traceBars(bars, projectionOf(plot, scale), path);
  return { stroke: path, fill: path, clip: null, band: null, gaps: [], flags: 3 };
}
