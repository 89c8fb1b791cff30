import { expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { addedInVain, dataDictionary, unitOf } from './data-dictionary.js';
import { declaredViews } from './declared-views.js';

const host = useDatabase({ migrated: true });

it('docs/data-dictionary.md is the dictionary of the live database', async () => {
  await expect(await dataDictionary(host.database)).toMatchFileSnapshot('../../docs/data-dictionary.md');
});

it('a column names its part of the interface, unless the collector or the transform adds it', async () => {
  expect(await addedInVain(host.database)).toEqual([]);
  const [, ticks = ''] = (await dataDictionary(host.database)).split('### price_ticks');
  const [table = ''] = ticks.split('###');
  const withPart = [...table.matchAll(/^\| `(\w+)` .* \| part \[6\.1\]\(interface\.md#part-6\.1\) \|$/gm)];
  expect(withPart.map(([, name]) => name)).toEqual(['event', 'market', 'last', 'bid', 'ask', 'source']);
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
