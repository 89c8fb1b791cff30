import type uPlot from 'uplot';
import { asText } from '../../display/fields.js';
import { type Bar, strokesOf } from '../../display/strokes.js';
import type { PanelContext } from '../panel-context.js';
import type { Series } from './chart-data.js';

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

function linePaths(plot: uPlot, { display, of, scale }: Series): uPlot.Series.Paths {
  const { custom, field } = display;
  const interpolation = asText(custom['lineInterpolation']) ?? 'linear';
  const spans = custom['spanNulls'];
  const lines = strokesOf({
    times: of.times,
    values: field.values,
    bucketMs: of.bucketMs,
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
