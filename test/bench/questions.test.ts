import { expect, it } from 'vitest';
import { sourcesOfTicks } from '../../bench/queries/large.js';
import { questionsAt, UNASKED_VIEWS } from '../../bench/queries/questions.js';
import { readViews, sqlFolder } from '../../warehouse/index.js';

it('every view is asked, or it is said why not', () => {
  const asked = questionsAt(new Date(0)).flatMap(({ sql }) =>
    [...sql.matchAll(/\bFROM (\w+)/g)].map(([, name]) => name),
  );
  const unasked = Object.values(UNASKED_VIEWS).flat();
  const views = readViews(sqlFolder()).map(({ name }) => name);
  expect(views.filter((name) => !asked.includes(name)).toSorted()).toEqual(unasked.toSorted());
});

it('the questions of the larger data set read ticks, or what is aggregated of them', () => {
  const sources = sourcesOfTicks();
  const asked = [
    'movers',
    'candles',
    'equity_curve',
    'trade_quotes',
    'latest_prices',
    'coverage_by_event',
    'volume_by_day',
  ];
  expect(asked.filter((name) => sources.has(name))).toEqual(['movers', 'candles', 'equity_curve', 'trade_quotes']);
});
