import { asRecord, asText, type FieldConfig } from './fields.js';

interface Configured {
  readonly type: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly fieldConfig: FieldConfig;
}

/** Whether a panel has an option, by the words that name it. */
type Checks = Readonly<Record<string, (panel: Configured) => boolean>>;

const LOGARITHMIC: Checks = {
  'a logarithmic axis': (panel) =>
    custom(panel, 'scaleDistribution').some((value) => isOther(asRecord(value)['type'], 'linear')),
};
const CHECKS: Readonly<Record<string, Checks>> = {
  timeseries: {
    ...LOGARITHMIC,
    'negated values': (panel) => custom(panel, 'transform').some((value) => isOther(value, 'constant')),
    'stacking to 100%': (panel) => stackings(panel).includes('percent'),
  },
  candlestick: LOGARITHMIC,
  stat: { 'a sparkline': ({ options }) => options['graphMode'] === 'area' },
  barchart: {
    ...LOGARITHMIC,
    'values on bars': ({ options }) => options['showValue'] === 'always',
    'colors by a field': ({ options }) => isSet(options['colorByField']),
    'lines and areas of thresholds': (panel) =>
      custom(panel, 'thresholdsStyle').some((value) => isOther(asRecord(value)['mode'], 'off')),
  },
  histogram: { 'stacked counts': (panel) => stackings(panel).some((mode) => isOther(mode, 'none')) },
  heatmap: {
    'logarithmic buckets': ({ options }) => {
      const { xBuckets, yBuckets } = asRecord(options['calculation']);
      return [xBuckets, yBuckets].some((one) => isOther(asRecord(asRecord(one)['scale'])['type'], 'linear'));
    },
    'a reversed axis': ({ options }) => asRecord(options['yAxis'])['reverse'] === true,
  },
  xychart: {
    ...LOGARITHMIC,
    'lines between points': (panel) => custom(panel, 'show').some((value) => String(value).includes('line')),
    'point sizes by a field': ({ options }) =>
      seriesOf(options).some((one) => isField(one['size'] ?? one['pointSize'])),
    'point colors by a field': ({ options }) =>
      seriesOf(options).some((one) => isField(one['color'] ?? one['pointColor'])),
  },
};

/** The options of a panel that change what a reader makes of its figure, and that the viewer does not draw. */
export function undrawnOptions(panel: Configured): string[] {
  return Object.entries(CHECKS[panel.type] ?? {})
    .filter(([, isUsed]) => isUsed(panel))
    .map(([words]) => words);
}

/** The values of a custom property: the default, and those of overrides. */
function custom({ fieldConfig: { defaults, overrides } }: Configured, name: string): unknown[] {
  const own = overrides.flatMap(({ properties }) => properties).filter(({ id }) => id === `custom.${name}`);
  return [asRecord(defaults['custom'])[name], ...own.map(({ value }) => value)].filter(isSet);
}

const stackings = (panel: Configured): unknown[] => custom(panel, 'stacking').map((value) => asRecord(value)['mode']);

const seriesOf = ({ series }: Configured['options']) => (Array.isArray(series) ? series.map(asRecord) : []);

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
const isOther = (value: unknown, usual: string): boolean => isSet(value) && value !== usual;

/** Whether a dimension names a field, in either form of Grafana, and not a fixed value. */
function isField(dimension: unknown): boolean {
  const { matcher, field } = asRecord(dimension);
  return isSet(asRecord(matcher)['options']) || isSet(asText(field));
}
