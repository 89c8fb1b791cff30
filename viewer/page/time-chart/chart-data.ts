import { colorOf, seriesColor } from '../../display/colors.js';
import { asRecord, asText, type Display, displaysOf, isHiddenFrom } from '../../display/fields.js';
import {
  type Bar,
  barsOf,
  bucketWidth,
  type Candle,
  type Completeness,
  candlesOf,
  completenessOf,
  isCompleteness,
  type MissingStretch,
  missingStretches,
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
  readonly bars: readonly Bar[] | undefined;
  /** Of its line, per row: its values, on those below where lines are stacked. */
  readonly values: readonly Value[];
  /** Where its area ends, per row; undefined where that is at zero. */
  readonly lower: readonly Value[] | undefined;
  /** Open, high, low or close of candles, which are drawn as one. */
  readonly isOhlc: boolean;
}

export const VOLUME_SCALE = 'volume';

/** Everything that a chart over time draws, computed once from the answers to its queries. */
export interface ChartData {
  /** All times of all frames, ascending: the rows of the cursor. */
  readonly times: readonly number[];
  readonly fields: readonly TimeField[];
  readonly series: readonly Series[];
  readonly candles: readonly Candle[];
  readonly missing: readonly MissingStretch[];
  /** Whether a frame says how complete its buckets are. */
  readonly isCompletenessKnown: boolean;
}

/** Undefined when no frame has a row with a time. */
export function chartDataOf(context: PanelContext): ChartData | undefined {
  const frames = context.frames.flatMap((frame) => timeFrameOf(frame, context) ?? []);
  if (frames.length === 0) return undefined;
  const fields = frames.flatMap((of) => displaysOf([of.frame], context.config).map((display) => ({ display, of })));
  return {
    times: [...new Set(frames.flatMap(({ times }) => times))].sort((a, b) => a - b),
    fields,
    series: seriesOf(fields, context),
    candles: isCandlestick(context) ? frames.flatMap((of) => candlesOfFrame(of, context)) : [],
    missing: frames.flatMap(({ times, bucketMs, completeness }) =>
      completeness ? missingStretches(times, bucketMs, completeness) : [],
    ),
    isCompletenessKnown: frames.some(({ completeness }) => completeness !== undefined),
  };
}

export const isCandlestick = ({ panel }: PanelContext): boolean => panel.type === 'candlestick';

export function timeFrameOf(frame: Frame, context: PanelContext): TimeFrame | undefined {
  const times = frame.fields.find(({ kind }) => kind === 'time')?.values.map(Number);
  if (!times || times.length === 0) return undefined;
  const completeness = completenessOf(frame);
  const isExact = isCandlestick(context) || completeness !== undefined;
  return { frame, times, completeness, bucketMs: bucketWidth(times, context.bucketMs, isExact) };
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
  const stacks = new Map<string, number[]>();
  return shown.map(({ display, of }, i): Series => {
    const isFixed = display.fixedColor !== undefined && display.colorMode === 'fixed';
    const color = isFixed ? colorOf(display.fixedColor ?? '', theme) : seriesColor(i, theme);
    const isVolume = isCandlestick(context) && valuesOf(of, 'volume', context) === display.field.values;
    const scale = isVolume ? VOLUME_SCALE : `y ${display.unit ?? ''}`;
    const base = stackBelow({ display, of }, stacks, context);
    const drawsBars = isVolume || display.custom['drawStyle'] === 'bars';
    const bars =
      drawsBars && !context.hiddenSeries.has(display.name)
        ? barsOf(of.times, display.field.values, of.bucketMs, of.completeness, base)
        : undefined;
    const { values } = display.field;
    const stacked = drawsBars ? undefined : base;
    return {
      ...{ display, of, color, scale, bars, isOhlc: isOhlc(display, context) },
      values: stacked ? values.map((value, row) => raised(value, stacked[row])) : values,
      lower: stacked ?? fillTarget({ display, of }, shown),
    };
  });
}

const raised = (value: Value, by = 0): Value => (typeof value === 'number' ? value + by : value);

/** The values of the field that bounds the area of another one (`fillBelowTo`), in the same frame. */
function fillTarget({ display, of }: TimeField, shown: readonly TimeField[]): readonly Value[] | undefined {
  const name = asText(display.custom['fillBelowTo']);
  const target = shown.find((one) => one.of === of && name !== undefined && isNamed(one.display, name));
  return target?.display.field.values;
}

const isNamed = ({ name, field }: Display, wanted: string): boolean => name === wanted || field.name === wanted;

/** What is stacked below a field, per row; a field that is shown raises its stack. Undefined where nothing is stacked. */
function stackBelow({ display, of }: TimeField, stacks: Map<string, number[]>, context: PanelContext) {
  const stacking = asRecord(display.custom['stacking']);
  if (stacking['mode'] !== 'normal') return undefined;
  const group = `${of.frame.refId}${String(stacking['group'])}`;
  const below = stacks.get(group) ?? new Array<number>(of.times.length).fill(0);
  if (!context.hiddenSeries.has(display.name)) {
    const sums = below.map((sum, row) => sum + Number(display.field.values[row] ?? 0));
    stacks.set(group, sums);
  }
  return below;
}
