import { describe, expect, it } from 'vitest';
import { besideTimes } from '../../viewer/display/joins.js';
import { type Transformation, transformed, unsupportedTransformation } from '../../viewer/display/transformations.js';
import type { Field, Frame, Value } from '../../viewer/frames.js';

const frame = (columns: Record<string, readonly Value[]>, refId = 'A'): Frame => ({
  refId,
  fields: Object.entries(columns).map(([name, values]): Field => {
    const kind = name === 'time' ? 'time' : values.some((value) => typeof value === 'string') ? 'text' : 'number';
    return { name, kind, values };
  }),
});
const columnsOf = (frames: readonly Frame[]) =>
  frames.map(({ fields }) => Object.fromEntries(fields.map(({ name, values }) => [name, values])));
const namesOf = (frames: readonly Frame[]) => frames.map(({ fields }) => fields.map(({ name }) => name));
const apply = (frames: readonly Frame[], id: string, options: unknown, keepsCompleteness = false) =>
  transformed(frames, [{ id, options }], keepsCompleteness);

const prices = frame({ market: ['b', 'a', 'c'], price: [2, null, 1], missing: [0, 0, 1] });

describe('the transformation', () => {
  it('organize leaves out, orders and renames fields; those without an index come last', () => {
    const options = {
      excludeByName: { market: true, price: false },
      indexByName: { missing: 0 },
      renameByName: { price: 'P' },
    };
    expect(namesOf(apply([prices], 'organize', options))).toEqual([['missing', 'P']]);
    expect(namesOf(apply([prices], 'organize', { includeByName: { market: true } }))).toEqual([['market']]);
    expect(namesOf(apply([prices], 'organize', {}))).toEqual([['market', 'price', 'missing']]);
  });

  it('filterFieldsByName keeps fields by name or pattern, and drops frames without any', () => {
    const names = (options: unknown) => namesOf(apply([prices, frame({ x: [1] })], 'filterFieldsByName', options));
    expect(names({ include: { names: ['price'] } })).toEqual([['price']]);
    expect(names({ include: { pattern: '/^m/' } })).toEqual([['market', 'missing']]);
    expect(names({ include: { names: ['price'], pattern: 'x' } })).toEqual([['price'], ['x']]);
    expect(names({ exclude: { pattern: '/mark|mis/' } })).toEqual([['price'], ['x']]);
    expect(names({ include: { names: [] } })).toEqual([['market', 'price', 'missing'], ['x']]);
  });

  it('organize and filterFieldsByName leave a chart the column that says what is missing', () => {
    const names = (id: string, options: unknown) => namesOf(apply([prices], id, options, true));
    expect(names('filterFieldsByName', { include: { names: ['price'] } })).toEqual([['price', 'missing']]);
    expect(names('organize', { excludeByName: { missing: true }, renameByName: { missing: 'm' } })).toEqual([
      ['market', 'price', 'missing'],
    ]);
  });

  it('sortBy orders all columns by one; NULL is last in both orders', () => {
    const sorted = (sort: unknown) => columnsOf(apply([prices], 'sortBy', { sort }))[0]?.['market'];
    expect(sorted([{ field: 'price' }])).toEqual(['c', 'b', 'a']);
    expect(sorted([{ field: 'price', desc: true }])).toEqual(['b', 'c', 'a']);
    expect(sorted([{ field: 'market' }])).toEqual(['a', 'b', 'c']);
    expect(sorted([{ field: 'nothing' }])).toEqual(['b', 'a', 'c']);
  });

  it('merge makes one row of rows that agree, and leaves frames without a common field', () => {
    const left = frame({ market: ['a', 'b'], bid: [1, 2] });
    const right = frame({ market: ['b', 'c', 'b'], ask: [5, 6, 7] }, 'B');
    expect(columnsOf(apply([left, right], 'merge', {}))).toEqual([
      { market: ['a', 'b', 'c', 'b'], bid: [1, 2, null, null], ask: [null, 5, 6, 7] },
    ]);
    const other = frame({ x: [1] });
    expect(apply([left, other], 'merge', {})).toEqual([left, other]);
    expect(apply([left], 'merge', {})).toEqual([left]);
  });

  it('joinByField joins by time or a field, outer or inner, and numbers fields of one name', () => {
    const left = frame({ time: [10, 30], value: [1, 3] });
    const right = frame({ time: [20, 30], value: [2, 33], only: ['x', 'y'] }, 'B');
    expect(columnsOf(apply([left, right], 'joinByField', {}))).toEqual([
      { time: [10, 20, 30], 'value 1': [1, null, 3], 'value 2': [null, 2, 33], only: [null, 'x', 'y'] },
    ]);
    expect(columnsOf(apply([left, right], 'joinByField', { byField: 'time', mode: 'inner' }))).toEqual([
      { time: [30], 'value 1': [3], 'value 2': [33], only: ['y'] },
    ]);
    const [one, several] = [frame({ k: ['a'], n: [1] }), frame({ k: ['a', 'a', 'b'], m: [1, 2, 3] })];
    expect(columnsOf(apply([one, several, frame({ z: [1] })], 'joinByField', { byField: 'k', mode: 'inner' }))).toEqual(
      [{ k: ['a', 'a'], n: [1, 1], m: [1, 2] }],
    );
    const many = frame({ k: new Array(2000).fill('a') });
    expect(() => apply([many, many], 'joinByField', { byField: 'k', mode: 'inner' })).toThrow('4000000 rows');
  });

  it('joinByField takes the worst of what is missing', () => {
    const left = frame({ time: [10, 20], a: [1, 2], missing: [0, 1] });
    const right = frame({ time: [10, 20, 30], b: [1, 2, 3], missing: [0.5, 0, 0] });
    expect(columnsOf(apply([left, right], 'joinByField', {}))[0]?.['missing']).toEqual([0.5, 1, 0]);
  });

  it('reduce makes a row per field, or one row of the same fields', () => {
    const frames = [frame({ time: [1, 2], a: [4, 6] }), frame({ time: [1, 2], b: [5, null] }, 'B')];
    expect(columnsOf(apply(frames, 'reduce', { reducers: ['lastNotNull', 'mean', 'sum'] }))).toEqual([
      { Field: ['a', 'b'], 'Last *': [6, 5], Mean: [5, 5], Total: [10, 5] },
    ]);
    expect(columnsOf(apply(frames, 'reduce', { mode: 'reduceFields', reducers: ['max'] }))).toEqual([
      { a: [6] },
      { b: [5] },
    ]);
    expect(apply(frames, 'reduce', { reducers: [] })).toEqual(frames);
    const labelled: Frame = {
      refId: 'A',
      fields: [{ name: 'value', kind: 'number', labels: { market: 'm' }, values: [1, 2] }],
    };
    expect(columnsOf(apply([labelled], 'reduce', { labelsToFields: true, reducers: ['max'] }))).toEqual([
      { Field: ['value'], market: ['m'], Max: [2] },
    ]);
    expect(columnsOf(apply([labelled], 'reduce', { reducers: ['max'] }))).toEqual([{ Field: ['m'], Max: [2] }]);
  });
});

describe('several transformations', () => {
  it('are applied in order; a disabled one is not', () => {
    const steps: Transformation[] = [
      { id: 'reduce', options: { reducers: ['max'] } },
      { id: 'merge', disabled: true },
      { id: 'organize', options: { renameByName: { Max: 'Highest' } } },
      { id: 'sortBy', options: { sort: [{ field: 'Highest', desc: true }] } },
    ];
    expect(columnsOf(transformed([frame({ a: [1, 2], b: [9, 3] })], steps, true))).toEqual([
      { Field: ['b', 'a'], Highest: [9, 2] },
    ]);
  });
});

describe('what is not supported of transformations', () => {
  it.each([
    [[{ id: 'groupBy' }], 'the transformation groupBy'],
    [[{ id: 'constructor' }], 'the transformation constructor'],
    [[{ id: 'merge', filter: { id: 'byRefId', options: 'A' } }], 'a filter of the transformation merge'],
    [[{ id: 'merge', topic: 'annotations' }], 'transformations of annotations'],
    [
      [{ id: 'joinByField', options: { mode: 'outerTabular' } }],
      'the mode outerTabular of the transformation joinByField',
    ],
    [
      [{ id: 'reduce', options: { reducers: ['allValues'] } }],
      'the calculation allValues of the transformation reduce',
    ],
    [[{ id: 'reduce', options: { fields: { id: 'byName' } } }], 'a choice of fields of the transformation reduce'],
    [
      [{ id: 'filterFieldsByName', options: { byVariable: true } }],
      'variables of the transformation filterFieldsByName',
    ],
    [[{ id: 'groupBy', disabled: true }, { id: 'merge' }], undefined],
  ])('%j: %s', (transformations, message) => {
    expect(unsupportedTransformation(transformations)).toBe(message);
  });
});

describe('a table of several results', () => {
  const outcomes = frame({ time: [20, 20, 30], outcome: ['yes', 'no', 'yes'], price: [0.4, 0.6, 0.5] });
  const completeness = frame({ time: [10, 20, 30], missing: [1, 0.5, 0] }, 'B');

  it('has those with one row per time as columns of the first, also at times that it lacks', () => {
    const { frame: table, left } = besideTimes([outcomes, completeness]);
    expect(left).toBe(0);
    expect(columnsOf(table ? [table] : [])).toEqual([
      {
        time: [10, 20, 20, 30],
        outcome: [null, 'yes', 'no', 'yes'],
        price: [null, 0.4, 0.6, 0.5],
        missing: [1, 0.5, 0.5, 0],
      },
    ]);
  });

  it('leaves out those without a time, or with several rows of one', () => {
    expect(besideTimes([completeness, outcomes])).toEqual({ frame: completeness, left: 1 });
    expect(besideTimes([prices, completeness])).toEqual({ frame: prices, left: 1 });
    expect(besideTimes([outcomes, prices])).toEqual({ frame: outcomes, left: 1 });
    expect(besideTimes([])).toEqual({ frame: undefined, left: 0 });
  });
});
