import { expect, it } from 'vitest';
import { questionsAt, UNASKED_VIEWS } from '../../bench/queries/questions.js';
import { sqlFolder } from '../../warehouse/index.js';
import { readViews } from '../../warehouse/schema/sql-files.js';

it('every view is asked, or it is said why not', () => {
  const asked = questionsAt(new Date(0)).flatMap(({ sql }) =>
    [...sql.matchAll(/\bFROM (\w+)/g)].map(([, name]) => name),
  );
  const unasked = Object.values(UNASKED_VIEWS).flat();
  const views = readViews(sqlFolder()).map(({ name }) => name);
  expect(views.filter((name) => !asked.includes(name)).toSorted()).toEqual(unasked.toSorted());
});
