import { asRecord, asText, type Display, type Threshold } from './fields.js';

/** A line of a threshold, and the area from it to the next one. */
export interface ThresholdBand {
  readonly color: string;
  /** Start of the area: undefined for the lowest value of the axis. It has no line then. */
  readonly from: number | undefined;
  /** End of the area: undefined for the highest value of the axis. */
  readonly to: number | undefined;
}

/** How the thresholds of a field are drawn in a chart over time; undefined when they are not. */
export interface ThresholdStyle {
  readonly lines: 'solid' | 'dashed' | undefined;
  readonly hasAreas: boolean;
}

export function thresholdStyleOf({ custom, thresholds }: Display): ThresholdStyle | undefined {
  const mode = asText(asRecord(custom['thresholdsStyle'])['mode']) ?? 'off';
  const lines = mode.startsWith('line') ? 'solid' : mode.startsWith('dashed') ? 'dashed' : undefined;
  const hasAreas = mode.endsWith('area');
  return thresholds.length > 0 && (lines !== undefined || hasAreas) ? { lines, hasAreas } : undefined;
}

/** @param axis lowest and highest value of the axis, of which thresholds in percent are parts */
export function thresholdBands(
  { thresholds, thresholdsMode }: Pick<Display, 'thresholds' | 'thresholdsMode'>,
  [low, high]: readonly [number, number],
): ThresholdBand[] {
  const startOf = ({ value }: Threshold) =>
    value === null ? undefined : thresholdsMode === 'percentage' ? low + ((high - low) * value) / 100 : value;
  return thresholds.map((step, i) => {
    const next = thresholds[i + 1];
    return { color: step.color, from: startOf(step), to: next && startOf(next) };
  });
}
