import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { instancePaths } from '../../cli/service/instance.js';
import { ALLOWED } from '../layout/import-rules.js';

const page = readFileSync('docs/architecture.md', 'utf8');

/** The rows of the table whose head begins with `head`, as cells. */
function rows(head: string): string[][] {
  const [, table = ''] = page.split(`\n| ${head} `);
  const [lines = ''] = table.split('\n\n');
  const cells = (line: string) => line.split('|').slice(1, -1);
  return lines
    .split('\n')
    .slice(2)
    .map((line) => cells(line).map((cell) => cell.trim()));
}

const quoted = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);

describe('docs/architecture.md', () => {
  it('says for each folder what the rule allows it to import', () => {
    const told = rows('folder').flatMap(([folder = '', , imports = '']) =>
      quoted(folder).map((name) => [name.replace('/', ''), imports] as const),
    );
    const expected = told.map(([name, imports]) => {
      const allowed = ALLOWED[name];
      const cell = allowed && (allowed.map((folder) => `\`${folder}\``).join(', ') || 'nothing');
      return [name, name === 'cli' ? 'all of these' : (cell ?? imports)];
    });
    expect(told).toEqual(expected);
    expect(told.map(([name]) => name)).toEqual(expect.arrayContaining(['core', 'transforms', 'viewer']));
  });

  it('has every file and folder of a data folder', () => {
    const { folder, ...paths } = instancePaths('data');
    const names = rows('path').map(([path = '']) => path.replaceAll('`', '').replace(/^DATA\/|\/$/g, ''));
    const expected = Object.values(paths).map((path) => relative(folder, path));
    expect(names.toSorted()).toEqual(expected.toSorted());
  });
});
