import { expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { dataDictionary, unitOf } from './data-dictionary.js';
import { declaredViews } from './declared-views.js';

const host = useDatabase({ migrated: true });

it('docs/data-dictionary.md is the dictionary of the live database', async () => {
  await expect(await dataDictionary(host.database)).toMatchFileSnapshot('../../docs/data-dictionary.md');
});

it('the comment of every amount, price and fraction of a view names its unit', async () => {
  const views = await declaredViews(host.database);
  const numbers = views.flatMap(({ name, declared }) =>
    declared.filter(({ type }) => /Float64|Decimal/.test(type)).map((column) => ({ view: name, column })),
  );
  expect(numbers.length).toBeGreaterThan(100);
  const without = numbers.filter(({ column }) => unitOf(column) === '');
  expect(without.map(({ view, column }) => `${view}.${column.name}: ${column.comment}`)).toEqual([]);
});
