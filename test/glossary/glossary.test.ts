import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bans } from './bans.js';
import { type SourceFile, uses } from './uses.js';

const PAGE = 'docs/glossary.md';
const page = readFileSync(PAGE, 'utf8');
const all = bans(page);

/** What people write: code, SQL, documents, dashboards, configuration. */
function written(): SourceFile[] {
  const paths = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  return paths
    .split('\0')
    .filter((path) => /\.(?:ts|mjs|sql|md|json|xml|yaml|yml)$|^Dockerfile$/.test(path))
    .filter((path) => path !== PAGE && path !== 'package-lock.json' && !path.startsWith('test/glossary/'))
    .flatMap((path) => {
      const text = readIfThere(path);
      return text === undefined ? [] : [{ path, text }];
    });
}

/** Git lists files that were removed but not yet committed too. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

describe('the words that docs/glossary.md replaces', () => {
  it('are not used where they are banned', () => {
    const found = written().flatMap((file) => uses(file, all));
    expect(found).toEqual([]);
  });

  it('are read from the page: columns, names and phrases, with their exceptions', () => {
    expect(
      bans('| term | meaning |\n| --- | --- |\n| a | b | `c` `d` (except `e/` `f.ts`) `j` | `G` | `h i` |\n'),
    ).toEqual([
      { word: 'c', where: 'column', term: 'a', except: ['e/', 'f.ts'] },
      { word: 'd', where: 'column', term: 'a', except: ['e/', 'f.ts'] },
      { word: 'j', where: 'column', term: 'a', except: [] },
      { word: 'G', where: 'name', term: 'a', except: [] },
      { word: 'h i', where: 'prose', term: 'a', except: [] },
    ]);
    for (const where of ['column', 'name', 'prose']) expect(all.some((ban) => ban.where === where)).toBe(true);
  });
});

describe('a banned word', () => {
  const of = (where: 'column' | 'name' | 'prose', word: string, path: string, text: string, except: string[] = []) =>
    uses({ path, text }, [{ word, where, term: 'the term', except }]);

  it('is found as a word of a column of SQL, of a value, and of a field, not in comments', () => {
    expect(of('column', 'sid', 'sql/a.sql', "-- sid\nSELECT sids, of_sid_x, 'a sid' AS x\nWHERE type = 'sid'")).toEqual(
      ['sql/a.sql:2: "sid": the term', 'sql/a.sql:3: "sid": the term'],
    );
    expect(of('column', '=sid', 'sql/a.sql', 'SELECT my_sid,\nsid')).toEqual(['sql/a.sql:2: "=sid": the term']);
    expect(of('column', 'order', 'sql/a.sql', 'SELECT 1 ORDER BY 1')).toEqual([]);
    expect(of('column', 'sid', 'core/a.ts', 'interface A {\n  readonly sid: string;\n  sids: string;\n}')).toEqual([
      'core/a.ts:2: "sid": the term',
    ]);
  });

  it('is found as a word of a declared name and of a file', () => {
    const text =
      'export class FirstLane {}\nconst planes = 1;\nfunction laneOf() {}\nclass A { lane() {} }\nif (lane) {}\n';
    expect(of('name', 'Lane', 'bus/lane.ts', text)).toEqual([
      'bus/lane.ts:1: "Lane": the term',
      'bus/lane.ts:1: "Lane": the term',
      'bus/lane.ts:3: "Lane": the term',
      'bus/lane.ts:4: "Lane": the term',
    ]);
    for (const declares of [
      'interface A { readonly lane: number }',
      'class A { #lane = 1 }',
      'class A { constructor(private readonly lane: B) {} }',
      'const a = (lane: number) => 1;',
      'type A = (lane: number) => void;',
      'const { a: lane, ...more } = b;',
      'const { a: { b: [, lane = 1] } } = c;',
      'a({ lane: 1 });',
      'try {} catch (lane) {}',
      "import { a as lane } from 'b';",
      'const a = `SELECT 1 AS lane`;',
    ]) {
      expect([declares, of('name', 'Lane', 'a.ts', declares)]).toEqual([declares, ['a.ts:1: "Lane": the term']]);
    }
    expect(of('name', 'Lane', 'a.mjs', 'export const lane = 1;')).toHaveLength(1);
    expect(of('name', 'Lane', 'a.sql', '-- AS lane\nWITH lane AS (SELECT 1) SELECT a AS first_lane')).toHaveLength(2);
    expect(of('name', 'Lane', 'a.ts', 'const { lane: a } = lane.lane;\na.lane(lane, "lane");')).toEqual([]);
    expect(of('name', 'MOST_', 'a.ts', 'const MOST_ROWS = 1;\nconst most = 2;\nconst ALMOST_ALL = 3;')).toHaveLength(1);
    expect(of('name', '*Place', 'a.ts', 'type RowPlace = 1;\nfunction placeOrder() {}')).toHaveLength(1);
  });

  it('is found in prose across the lines of a comment, in any case', () => {
    expect(of('prose', 'sign of life', 'a.ts', '/**\n * Sign of\n * life\n */')).toEqual([
      'a.ts:2: "sign of life": the term',
    ]);
    expect(of('prose', 'bury', 'a.md', 'Salisbury')).toEqual([]);
  });

  it('is allowed where the page excepts it', () => {
    expect(of('name', 'Settle', 'exchange/a.ts', 'function settle() {}', ['exchange/'])).toEqual([]);
    expect(of('column', 'order', 'core/a.ts', '  order: string;', ['.ts'])).toEqual([]);
    expect(of('name', 'Mark', 'a.ts', 'a({ highWaterMark: 1 })', ['highWaterMark'])).toEqual([]);
    expect(of('name', 'Mark', 'a.ts', 'a({ waterMark: 1 })', ['highWaterMark'])).toHaveLength(1);
  });
});
