import { colorOf, seriesColor } from '../../display/colors.js';
import { asRecord, asText, type Display, displaysOf, isHiddenFrom } from '../../display/fields.js';
import {
  type Bar,
  barsOf,
  bucketWidth,
  type Candle,
  type Completeness,
  candlesOf,
  closedBand,
  completenessOf,
  isAllMissing,
  isCompleteness,
  type MissingStretch,
  missingStretches,
  sharedCompleteness,
} from '../../display/strokes.js';
import type { Frame, Value } from '../../frames.js';
import type { PanelContext } from '../panel-context.js';

/** A frame with its times. */
export interface TimeFrame {
  readonly frame: Frame;
  readonly times: readonly number[];
  /** Width of its buckets, milliseconds. */
  readonly bucketMs: number;
  readonly completeness: Completeness | undefined;
}

/** A field of a frame with its configuration. */
export interface TimeField {
  readonly display: Display;
  readonly of: TimeFrame;
}

/** A field that is drawn. */
export interface Series extends TimeField {
  readonly color: string;
  readonly scale: string;
  /** Whether it is drawn as bars; those are undefined where the reader has hidden it. */
  readonly drawsBars: boolean;
  readonly bars: readonly Bar[] | undefined;
  /** The values of its line, per row; where lines are stacked, each is added to those of the lines below. */
  readonly values: readonly Value[];
  /** Of its line where it is stacked, to where its height is zero. */
  readonly band: readonly Value[] | undefined;
  /** Where its area ends, per row; undefined where that is at zero. */
  readonly lower: readonly Value[] | undefined;
  /** Open, high, low or close of candles, which are drawn as one. */
  readonly isOhlc: boolean;
}

export const VOLUME_SCALE = 'volume';

/** Fields with the same unit and placement share an axis, as in Grafana. */
const scaleOf = ({ unit = '', custom }: Display): string => `y ${unit} ${asText(custom['axisPlacement']) ?? 'auto'}`;

/** Everything that a chart over time draws, computed once from the answers to its queries. */
export interface ChartData {
  /** All times of all frames, ascending: the rows of the cursor. */
  readonly times: readonly number[];
  readonly fields: readonly TimeField[];
  readonly series: readonly Series[];
  readonly candles: readonly Candle[];
  readonly missing: readonly MissingStretch[];
  /**
   * How long values are drawn from their time on, milliseconds: bars and candles over their bucket, steps until the next value (infinity);
   * undefined where lines and points are drawn at their time.
   */
  readonly drawnMs: number | undefined;
  /** Whether a frame says how complete its buckets are. */
  readonly isCompletenessKnown: boolean;
  /** Whether there is no value to draw, also when the reader shows every series. */
  readonly isEmpty: boolean;
}

/** Undefined when no frame has a row with a time. */
export function chartDataOf(context: PanelContext): ChartData | undefined {
  const own = context.frames.flatMap((frame) => timeFrameOf(frame, context) ?? []);
  if (own.length === 0) return undefined;
  const frames = own.map((frame): TimeFrame => ({ ...frame, completeness: sharedCompleteness(frame, own) }));
  const fields = frames.flatMap((of) => displaysOf([of.frame], context.config).map((display) => ({ display, of })));
  const series = seriesOf(fields, context);
  const candles = isCandlestick(context) ? frames.flatMap((of) => candlesOfFrame(of, context)) : [];
  return {
    times: [...new Set(frames.flatMap(({ times }) => times))].sort((a, b) => a - b),
    fields,
    series,
    candles,
    missing: own.flatMap(({ times, bucketMs, completeness }) =>
      completeness ? missingStretches(times, bucketMs, completeness) : [],
    ),
    drawnMs: drawnMsOf(series, candles, frames),
    isCompletenessKnown: frames.some(({ completeness }) => completeness !== undefined),
    isEmpty: candles.length === 0 && !series.some(hasShapes),
  };
}

function drawnMsOf(
  series: readonly Series[],
  candles: readonly Candle[],
  frames: readonly TimeFrame[],
): number | undefined {
  if (series.some(({ drawsBars, display }) => !drawsBars && isStepped(display))) return Number.POSITIVE_INFINITY;
  const drawsBuckets = candles.length > 0 || series.some(({ drawsBars }) => drawsBars);
  return drawsBuckets ? Math.max(...frames.map(({ bucketMs }) => bucketMs)) : undefined;
}

/** Whether there is a value of a series to draw: a bar of 0 has no height. */
const hasShapes = ({ display, of, drawsBars, isOhlc }: Series): boolean =>
  !isOhlc &&
  display.field.values.some(
    (value, row) => typeof value === 'number' && !(drawsBars && value === 0) && !isAllMissing(of.completeness, row),
  );

export const isCandlestick = ({ panel }: PanelContext): boolean => panel.type === 'candlestick';

export function timeFrameOf(frame: Frame, context: PanelContext): TimeFrame | undefined {
  const times = frame.fields.find(({ kind }) => kind === 'time')?.values.map(Number);
  if (!times || times.length === 0) return undefined;
  const completeness = completenessOf(frame);
  const isExact = isCandlestick(context) || completeness !== undefined;
  const bucketMs = bucketWidth(times, context.bucketMs, isExact);
  const [first = 0] = times;
  // A lone candle of more than the period.
  const isWider = isCandlestick(context) && times.length === 1 && first <= context.from;
  return { frame, times, completeness, bucketMs: isWider ? Math.max(bucketMs, context.to - first) : bucketMs };
}

/** Values of the field that the options of the panel, or its name, make `role`: `open`, `volume`, … */
function valuesOf({ frame }: TimeFrame, role: string, context: PanelContext): readonly Value[] {
  const wanted = nameOf(role, context);
  return frame.fields.find(({ name }) => name === wanted)?.values ?? [];
}

function nameOf(role: string, { panel }: PanelContext): string {
  return asText(asRecord(panel.options['fields'])[role]) ?? role;
}

function candlesOfFrame(of: TimeFrame, context: PanelContext): Candle[] {
  const values = (role: string) => valuesOf(of, role, context);
  const prices = { open: values('open'), high: values('high'), low: values('low'), close: values('close') };
  return candlesOf(of.times, prices, of.bucketMs, of.completeness);
}

function isOhlc({ field }: Display, context: PanelContext): boolean {
  if (!isCandlestick(context)) return false;
  return ['open', 'high', 'low', 'close'].some((role) => field.name === nameOf(role, context));
}

function seriesOf(fields: readonly TimeField[], context: PanelContext): Series[] {
  const { theme } = context;
  const shown = fields.filter(
    ({ display }) =>
      display.field.kind === 'number' && !isCompleteness(display.field.name) && !isHiddenFrom(display, 'viz'),
  );
  const stacks = new Map<string, Stack>();
  for (const field of shown) addToStack(field, stacks, context);
  return shown.map(({ display, of }, i): Series => {
    const isFixed = display.fixedColor !== undefined && display.colorMode === 'fixed';
    const color = isFixed ? colorOf(display.fixedColor ?? '', theme) : seriesColor(i, theme);
    const isVolume = isCandlestick(context) && valuesOf(of, 'volume', context) === display.field.values;
    const scale = isVolume ? VOLUME_SCALE : scaleOf(display);
    const stack = stacks.get(stackName({ display, of }) ?? '');
    const base = stack && putOn(stack, display, context);
    const drawsBars = isVolume || display.custom['drawStyle'] === 'bars';
    const bars =
      drawsBars && !context.hiddenSeries.has(display.name)
        ? barsOf(of.times, display.field.values, of.bucketMs, of.completeness, base)
        : undefined;
    const line = drawsBars ? undefined : base;
    const values = display.field.values.map((value, row) => raised(value, line?.[row]));
    return {
      ...{ display, of, color, scale, drawsBars, bars, isOhlc: isOhlc(display, context), values },
      band: line && stack && closedBand(values, line, stack.isPresent, isStepped(display)),
      lower: line ?? fillTarget({ display, of }, shown),
    };
  });
}

export const isStepped = ({ custom }: Display): boolean =>
  (asText(custom['lineInterpolation']) ?? 'linear').startsWith('step');

const raised = (value: Value, by = 0): Value => (typeof value === 'number' ? value + by : value);

/** The values of the field that bounds the area of another one (`fillBelowTo`), in the same frame. */
function fillTarget({ display, of }: TimeField, shown: readonly TimeField[]): readonly Value[] | undefined {
  const name = asText(display.custom['fillBelowTo']);
  const target = shown.find((one) => one.of === of && name !== undefined && isNamed(one.display, name));
  return target?.display.field.values;
}

const isNamed = ({ name, field }: Display, wanted: string): boolean => name === wanted || field.name === wanted;

/** Series of a frame that are drawn one on the other. */
interface Stack {
  /** Sums of the values of the series so far, per row. */
  sums: readonly number[];
  /** Whether any series has a value, per row. */
  readonly isPresent: boolean[];
}

/** Undefined where a field is not stacked. */
function stackName({ display, of }: TimeField): string | undefined {
  const stacking = asRecord(display.custom['stacking']);
  return stacking['mode'] === 'normal' ? `${of.frame.refId}${String(stacking['group'])}` : undefined;
}

function addToStack({ display, of }: TimeField, stacks: Map<string, Stack>, { hiddenSeries }: PanelContext): void {
  const name = stackName({ display, of });
  if (name === undefined) return;
  const stack = stacks.get(name) ?? { sums: of.times.map(() => 0), isPresent: of.times.map(() => false) };
  stacks.set(name, stack);
  if (hiddenSeries.has(display.name)) return;
  for (const [row, value] of display.field.values.entries()) if (typeof value === 'number') stack.isPresent[row] = true;
}

/** Adds a field to its stack, which one that is shown raises. @returns what is below it, per row */
function putOn(stack: Stack, { name, field }: Display, { hiddenSeries }: PanelContext): readonly number[] {
  const below = stack.sums;
  if (!hiddenSeries.has(name)) stack.sums = below.map((sum, row) => sum + Number(field.values[row] ?? 0));
  return below;
}
