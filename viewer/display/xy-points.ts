import type { Field, Frame } from '../frames.js';
import { asRecord, asText } from './fields.js';
import { completenessOf, isAllMissing, isCompleteness } from './strokes.js';

/** The two fields of a series of points. */
export interface XySeries {
  readonly frame: Frame;
  readonly x: Field;
  readonly y: Field;
  readonly name: string | undefined;
}

export interface XyPoint {
  readonly x: number;
  readonly y: number;
  readonly row: number;
}

/** The pairs of fields that the options name; without a mapping, each number over the first number or time of its frame. */
export function xySeriesOf(frames: readonly Frame[], options: Readonly<Record<string, unknown>>): XySeries[] {
  const named = Array.isArray(options['series']) ? options['series'].map(asRecord) : [];
  const isManual = (options['mapping'] ?? options['seriesMapping']) === 'manual';
  const firstX = nameOf(named[0]?.['x']) ?? asText(asRecord(options['dims'])['x']);
  return frames.flatMap((frame) => {
    if (!isManual) return automatic(frame, firstX);
    return named.flatMap((one) => {
      const x = fieldOf(frame, nameOf(one['x']));
      const y = fieldOf(frame, nameOf(one['y']));
      return x && y ? [{ frame, x, y, name: asText(asRecord(one['name'])['fixed']) ?? asText(one['name']) }] : [];
    });
  });
}

/** Both forms of Grafana: a name, or a matcher by name. */
const nameOf = (value: unknown): string | undefined =>
  asText(value) ?? asText(asRecord(asRecord(value)['matcher'])['options']);

const fieldOf = ({ fields }: Frame, name: string | undefined): Field | undefined =>
  fields.find((field) => field.name === name);

function automatic(frame: Frame, firstX: string | undefined): XySeries[] {
  const usable = frame.fields.filter(
    ({ kind, name }) => (kind === 'number' || kind === 'time') && !isCompleteness(name),
  );
  const x = fieldOf(frame, firstX) ?? usable[0];
  if (!x) return [];
  return usable.filter((y) => y !== x && y.kind === 'number').map((y) => ({ frame, x, y, name: undefined }));
}

/** The points of a series: none of a row that is missing or without one of its numbers. */
export function xyPointsOf({ frame, x, y }: XySeries): XyPoint[] {
  const completeness = completenessOf(frame);
  return x.values.flatMap((at, row) => {
    const value = y.values[row];
    if (typeof at !== 'number' || typeof value !== 'number' || isAllMissing(completeness, row)) return [];
    return [{ x: at, y: value, row }];
  });
}
