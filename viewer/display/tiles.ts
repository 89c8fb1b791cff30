import type { Frame, Value } from '../frames.js';
import { calculationName, reduceValues } from './calculations.js';
import {
  asNumber,
  asRecord,
  asText,
  type Display,
  displaysOf,
  type FieldConfig,
  formatValue,
  isHiddenFrom,
} from './fields.js';

export interface Tile {
  readonly name: string;
  readonly value: Value;
  readonly display: Display;
}

/** Values of a panel that shows all rows, as in Grafana. */
const DEFAULT_LIMIT = 25;

interface TiledPanel {
  readonly panel: { readonly options: Readonly<Record<string, unknown>> };
  readonly frames: readonly Frame[];
  readonly config: FieldConfig;
}

/** The tiles of a stat: one per field and calculation, or one per field and row. */
export function tilesOf({ panel, frames, config }: TiledPanel): Tile[] {
  const reduce = asRecord(panel.options['reduceOptions']);
  const limit = asNumber(reduce['limit']) || DEFAULT_LIMIT;
  const pattern = asText(reduce['fields']) ?? '';
  const calculations = calculationsOf(reduce['calcs']);
  const displays = displaysOf(frames, config).filter(
    (display) => isReduced(display, pattern) && !isHiddenFrom(display, 'viz'),
  );
  if (reduce['values'] !== true) {
    return displays.flatMap((display) => {
      const { values } = display.field;
      const name = display.nameAt(Math.max(0, values.length - 1));
      return calculations.map((one) => ({
        name: calculations.length === 1 ? name : `${name} (${calculationName(one)})`,
        value: reduceValues(values, one),
        display,
      }));
    });
  }
  return displays
    .flatMap((display) => display.field.values.slice(0, limit).map((value, row) => ({ display, value, row })))
    .slice(0, limit)
    .map(({ display, value, row }) => ({ name: nameOfRow(display, row, frames, config), value, display }));
}

/** How many rows of a panel that shows them all are above its limit, in words; empty when none is. */
export function limitNote({ panel, frames }: TiledPanel): string {
  const reduce = asRecord(panel.options['reduceOptions']);
  const limit = asNumber(reduce['limit']) || DEFAULT_LIMIT;
  const rows = Math.max(0, ...frames.map(({ fields }) => fields[0]?.values.length ?? 0));
  return reduce['values'] === true && rows > limit ? `the first ${limit} of ${rows} rows` : '';
}

/** The name of a value. Without one of its own: the texts of its row, and the name of its field if the texts do not identify it. */
function nameOfRow(display: Display, row: number, frames: readonly Frame[], config: FieldConfig): string {
  if (display.isNamed) return display.nameAt(row);
  const frame = frames.find(({ fields }) => fields.includes(display.field));
  const others = displaysOf(frame ? [frame] : [], config).filter(({ field }) => field !== display.field);
  const texts = others.flatMap((other) => {
    if (other.field.kind !== 'text') return [];
    const { text } = formatValue(other.field.values[row] ?? '', other);
    return text === '' ? [] : [text];
  });
  const isAlone = others.every(({ field }) => field.kind !== 'number');
  return [...texts, ...(isAlone && texts.length > 0 ? [] : [display.nameAt(row)])].join(' ');
}

function calculationsOf(calcs: unknown): readonly string[] {
  return Array.isArray(calcs) && calcs.length > 0 ? calcs.map(String) : ['lastNotNull'];
}

function isReduced({ field, name }: Display, pattern: string): boolean {
  if (pattern === '') return field.kind === 'number';
  const [, body] = /^\/(.*)\/$/.exec(pattern) ?? [];
  if (body === '.*') return true;
  return body === undefined ? name === pattern : name === body.replace(/^\^|\$$/g, '');
}
