import { expect } from 'vitest';
import { type Answer, valuesOf } from './answer.js';
import { VIEWS_OF_MARKET_DATA, VIEWS_WITH_COMPLETENESS } from './expectations.js';
import type { Dashboard, Panel } from './shipped-dashboards.js';

/** The columns have the types, the order and the values that the panel can draw. */
export function checkShape(panel: Panel, answers: readonly Answer[]): void {
  for (const [i, answer] of answers.entries()) {
    const { columns } = answer;
    const kinds = columns.map(({ kind }) => kind);
    expect(columns.filter(({ kind }) => kind === 'other')).toEqual([]);
    if (panel.targets[i]?.queryType === 'timeSeries' || panel.type === 'candlestick') checkTime(answer);
    const drawn = panel.fieldConfig.defaults.unit === 'string' ? 'text' : 'number';
    if (panel.type !== 'table') expect(kinds, `a ${drawn} to draw`).toContain(drawn);
    if (panel.type === 'candlestick') checkCandles(answer);
  }
}

function checkTime(answer: Answer): void {
  expect(answer.columns[0]).toMatchObject({ name: 'time', kind: 'time' });
  const times = valuesOf(answer, 'time') as string[];
  expect(times).toEqual([...times].sort());
}

function checkCandles(answer: Answer): void {
  const [open, high, low, close] = ['open', 'high', 'low', 'close'].map((name) => valuesOf(answer, name).map(Number));
  for (const [i, top] of (high ?? []).entries()) {
    const inside = [open?.[i], close?.[i], low?.[i]].map(Number);
    expect(Math.max(...inside), 'the high of a candle').toBeLessThanOrEqual(top);
    expect(Math.min(...inside), 'the low of a candle').toBe(low?.[i]);
  }
}

/** Every column named by an override, a link, a text or an option is in the result: a misspelt one would show nothing. */
export function checkNames(panel: Panel, answers: readonly Answer[]): void {
  const names = new Set(answers.flatMap(({ columns }) => columns.map(({ name }) => name)));
  const known = [...names];
  for (const { matcher } of panel.fieldConfig.overrides) {
    if (matcher.id === 'byName') expect(known, 'an override is for').toContain(matcher.options);
  }
  const text = JSON.stringify([panel.fieldConfig, panel.options]);
  for (const [, name] of text.matchAll(/__(?:data\.fields|field\.labels)\.(\w+)/g)) expect(known).toContain(name);
  if (panel.type === 'candlestick') {
    for (const name of Object.values(panel.options['fields'] as Record<string, string>)) expect(known).toContain(name);
  }
}

/** A chart or table of market data shows its completeness. */
export function checkCompleteness(panel: Panel, answers: readonly Answer[]): void {
  for (const [i, { rawSql }] of panel.targets.entries()) {
    const offered = VIEWS_WITH_COMPLETENESS.test(rawSql);
    const taken = panel.type !== 'stat' && VIEWS_OF_MARKET_DATA.test(rawSql);
    if (!offered && !taken) continue;
    if (panel.type === 'stat' && !rawSql.includes('missing')) continue;
    const missing = answers[i]?.columns.map(({ name }) => name).filter((name) => name.endsWith('missing')) ?? [];
    expect(missing, 'a column for what is missing').toHaveLength(1);
    const values = valuesOf(answers[i] as Answer, missing[0] ?? '').map(Number);
    expect(values.filter((value) => !(value > -1e-6 && value < 1 + 1e-6))).toEqual([]);
    const others = answers[i]?.columns.filter(({ name }) => /^(?:observed|backfilled)$/.test(name)) ?? [];
    if (panel.type === 'timeseries' || panel.type === 'candlestick')
      expect(others, 'what was observed').toHaveLength(2);
  }
}

/** What says how complete a panel is: fractions that are missing, up to when everything is known, or when it was polled. */
const COMPLETENESS = /missing(?:_seconds)?$|^(?:complete_to|complete|polled_at|finished_at|recording|age)$/;

/** Whether a query of a panel says how complete its answer is. */
export const saysCompleteness = (answers: readonly Answer[]): boolean =>
  answers.some(({ columns }) => columns.some(({ name }) => COMPLETENESS.test(name)));

/** Pairs of overlapping panels. */
export function overlaps({ panels }: Dashboard): [string, string][] {
  return panels.flatMap((a, i) =>
    panels
      .slice(i + 1)
      .filter(
        ({ gridPos: b }) =>
          a.gridPos.x < b.x + b.w &&
          b.x < a.gridPos.x + a.gridPos.w &&
          a.gridPos.y < b.y + b.h &&
          b.y < a.gridPos.y + a.gridPos.h,
      )
      .map((b): [string, string] => [a.title, b.title]),
  );
}
