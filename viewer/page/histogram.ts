import { asNumber } from '../display/fields.js';
import { bucketConfig, bucketFrame, type HistogramBucket, histogramOf } from '../display/histogram.js';
import { isAllMissing } from '../display/strokes.js';
import { formatNumber } from '../display/units.js';
import { drawEmpty, type NumberColumn, numberColumnsOf, translucent } from './number-columns.js';
import type { Drawn, PanelContext } from './panel-context.js';
import { drawPlot, type PlotArea } from './plot.js';
import { namesLegend } from './time-chart/legend.js';

/** What a histogram draws. */
interface Histogram {
  readonly columns: readonly NumberColumn[];
  /** The columns that the reader has not switched off. */
  readonly shown: readonly NumberColumn[];
  /** Names of the counts of a bucket. */
  readonly names: readonly string[];
  readonly buckets: readonly HistogramBucket[];
}

function histogramFor(context: PanelContext): Histogram {
  const { options } = context.panel;
  const columns = numberColumnsOf(context);
  const isCombined = options['combine'] === true;
  const shown = columns.filter(({ name }) => isCombined || !context.hiddenSeries.has(name));
  const values = isCombined ? [shown.flatMap(valuesOf)] : shown.map(valuesOf);
  const buckets = histogramOf(values, {
    width: asNumber(options['bucketSize']),
    count: asNumber(options['bucketCount']) ?? 30,
    offset: asNumber(options['bucketOffset']) ?? 0,
  });
  return { columns, shown, names: isCombined ? ['all'] : shown.map(({ name }) => name), buckets };
}

/** The buckets of a histogram, for a table. */
export function histogramTable(context: PanelContext): PanelContext {
  const { columns, names, buckets } = histogramFor(context);
  const { unit, decimals } = columns[0]?.display ?? {};
  const config = bucketConfig(unit, decimals, context.config.defaults['noValue']);
  return { ...context, frames: [bucketFrame(buckets, names)], config };
}

/** How often the values of each field lie in each bucket. */
export function drawHistogram(context: PanelContext): Drawn {
  const { columns, shown, names, buckets } = histogramFor(context);
  const [first, last] = [buckets[0], buckets.at(-1)];
  if (columns.length === 0 || (shown.length > 0 && !first)) return drawEmpty(context);
  const highest = Math.max(1, ...buckets.flatMap(({ counts }) => counts));
  const unit = columns[0]?.display.unit;
  const text = (value: number) => {
    const formatted = formatNumber(value, unit, columns[0]?.display.decimals);
    return `${formatted.text}${formatted.suffix}`;
  };
  return drawPlot(
    {
      x: { kind: 'number', range: [first?.from ?? 0, last?.to ?? 1], unit },
      y: { kind: 'number', range: [0, highest * 1.06], unit: 'none' },
      legend: context.panel.options['combine'] === true ? undefined : namesLegend(columns, context),
      draw: (area) => {
        for (const bucket of buckets) {
          for (const [i, count] of bucket.counts.entries()) fillBar(area, bucket, count, shown[i]);
        }
      },
      hover: (x) => {
        const found = buckets.find(({ from, to }) => x >= from && x < to);
        if (!found) return undefined;
        const lines = found.counts.map((count, i) => ({
          name: names[i] ?? '',
          value: formatNumber(count, undefined, 0).text,
          color: shown[i]?.color,
        }));
        return { title: `${text(found.from)} to ${text(found.to)}`, lines };
      },
    },
    context,
  );
}

const valuesOf = ({ display, completeness }: NumberColumn): number[] =>
  display.field.values.filter(
    (value, row) => typeof value === 'number' && !isAllMissing(completeness, row),
  ) as number[];

function fillBar(
  { ctx, x, y }: PlotArea,
  { from, to }: { from: number; to: number },
  count: number,
  column: NumberColumn | undefined,
): void {
  if (count === 0 || !column) return;
  const gap = devicePixelRatio;
  const opacity = asNumber(column.display.custom['fillOpacity']) ?? 80;
  ctx.fillStyle = translucent(column.color, opacity / 100);
  ctx.fillRect(x(from) + gap / 2, y(count), Math.max(1, x(to) - x(from) - gap), y(0) - y(count));
}
