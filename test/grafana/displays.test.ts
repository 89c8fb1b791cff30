import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asRecord } from '../../viewer/display/fields.js';
import { SCALED_UNITS } from '../../viewer/display/unit-scales.js';
import type { Field, Frame, Value } from '../../viewer/frames.js';
import { dashboardFolder } from '../../viewer/index.js';
import type { ComparedPanel } from './as-grafana.js';
import { loadComparison } from './load-comparison.js';

/** Sizes at which units and numbers of decimals change. */
const NUMBERS: readonly Value[] = [
  null,
  0,
  1,
  -1,
  2,
  0.5,
  -0.5,
  2.5,
  0.004,
  -0.0001,
  1.25e-5,
  3.2e-7,
  12.345,
  59.6,
  90,
  999,
  -1000,
  1023,
  1536,
  4000,
  12_345,
  86_400,
  100_000,
  700_000,
  1_234_567.891,
  3.2e7,
  1e9,
  6e10,
  5e12,
  1e14,
];
const TEXTS: readonly Value[] = ['live', '', 'died', null];
const TRUTHS: readonly Value[] = NUMBERS.map((_, i) => i % 2 === 0);
const NONE = { defaults: {}, overrides: [] };
const CALCULATIONS = [
  'lastNotNull last firstNotNull first count countAll distinctCount changeCount allIsNull allIsZero min max logmin mean',
  'median sum range variance stdDev diff diffperc delta step p1 p2 p3 p11 p25 p50 p90 p95 p99',
].flatMap((names) => names.split(' '));

const comparison = await loadComparison();

describe.skipIf(!comparison)('as Grafana', () => {
  const folders = [dashboardFolder(), join(import.meta.dirname, '..', 'viewer', 'foreign')];
  const files = folders.flatMap((folder) =>
    readdirSync(folder).flatMap((name) => (name.endsWith('.json') ? [join(folder, name)] : [])),
  );

  it.each(files)('the viewer shows the values of each field of %s', (file) => {
    const { panels } = JSON.parse(readFileSync(file, 'utf8')) as {
      panels: (Partial<ComparedPanel> & { title: string })[];
    };
    for (const { type = '', title, fieldConfig, options = {} } of panels) {
      if (!fieldConfig) continue;
      const panel = { type, fieldConfig: { ...NONE, ...fieldConfig }, options };
      expect(comparison?.differencesFromGrafana(panel, framesFor(panel)), title).toEqual([]);
    }
  });

  it('the viewer formats numbers in each unit', () => {
    const units = [
      ...SCALED_UNITS.filter((unit) => unit !== 'count'),
      'currencyUSD',
      'none',
      'locale',
      'percent',
      'percentunit',
      'suffix:USDC',
      'prefix:~',
      'parsecs',
    ];
    for (const unit of [...units, 'bool', 'bool_yes_no', 'bool:up/down', 'dateTimeAsIso', 'string'])
      for (const decimals of [undefined, 0, 2]) {
        const defaults = { unit, ...(decimals === undefined ? {} : { decimals }) };
        const panel = { type: 'table', fieldConfig: { defaults, overrides: [] }, options: {} };
        expect(comparison?.differencesFromGrafana(panel, framesOf(['value'])), `${unit}, ${decimals} decimals`).toEqual(
          [],
        );
      }
  });

  it.each(CALCULATIONS)('the viewer calculates %s', (id) => {
    for (const values of [[3, null, 1, 8, 8, 2, 5], [null, 2, 5, 8, 3, 4, 9, null], [-1, -4], [7]])
      expect(comparison?.differencesOfCalculation(id, values)).toEqual([]);
  });
});

/** A frame with each field that the configuration names. */
function framesFor({ fieldConfig, options }: ComparedPanel): Frame[] {
  const reduced = asRecord(options['reduceOptions'])['fields'];
  const texts = JSON.stringify([fieldConfig, options]);
  const named = [...texts.matchAll(/__(?:data\.fields|field\.labels)\.(\w+)/g)].flatMap(([, name]) => name ?? []);
  const matched = fieldConfig.overrides.flatMap(({ matcher }) =>
    matcher.id === 'byName' ? [String(matcher.options)] : [],
  );
  const shown = typeof reduced === 'string' ? reduced.replace(/^\/\^?|\$?\/$/g, '') : '';
  const names = ['time', ...matched, ...named, ...(/^\w+$/.test(shown) ? [shown] : []), 'value'];
  const states = NUMBERS.map((_, i): Value => TEXTS[i % TEXTS.length] ?? null);
  const state: Field = { name: 'state', kind: 'text', values: states };
  return framesOf([...new Set(names)]).map(({ refId, fields }) => ({
    refId,
    fields: [...fields, state, { name: 'open', kind: 'text', values: TRUTHS }],
  }));
}

function framesOf(names: readonly string[]): Frame[] {
  const fields = names.map((name): Field => {
    if (name === 'time')
      return { name, kind: 'time', values: NUMBERS.map((_, i) => Date.UTC(2026, 10, 21) + i * 60_000) };
    return { name, kind: 'number', values: NUMBERS };
  });
  return [{ refId: 'A', fields }];
}
