import type { Frame, Value } from '../frames.js';
import { calculationName, reduceValues } from './calculations.js';
import { asRecord, asText, type Display, displaysOf, type FieldConfig, isHiddenFrom } from './fields.js';

export interface Tile {
  readonly name: string;
  readonly value: Value;
  readonly display: Display;
}

interface TiledPanel {
  readonly panel: { readonly options: Readonly<Record<string, unknown>> };
  readonly frames: readonly Frame[];
  readonly config: FieldConfig;
}

/** The tiles of a stat: one per field and calculation, or one per row and field. */
export function tilesOf({ panel, frames, config }: TiledPanel): Tile[] {
  const reduce = asRecord(panel.options['reduceOptions']);
  const limit = typeof reduce['limit'] === 'number' ? reduce['limit'] : 100;
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
  const rows = Math.max(0, ...displays.map(({ field }) => field.values.length));
  return Array.from({ length: rows }, (_, row) =>
    displays.map((display) => ({ name: display.nameAt(row), value: display.field.values[row] ?? null, display })),
  )
    .flat()
    .slice(0, limit);
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
