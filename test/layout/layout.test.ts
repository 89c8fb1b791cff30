import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../core/index.js';
import { ALLOWED, findCycle, folderOf, importsOf, refusal, UNRESTRICTED } from './import-rules.js';

const root = packageRoot();
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
const imports = new Map(files.map((file) => [file, importsOf(file, readFileSync(join(root, file), 'utf8'))]));

describe('imports between files', () => {
  it('go in the allowed directions only, and to another folder through its index.ts', () => {
    const refused = [...imports].flatMap(([file, targets]) =>
      targets.flatMap((target) => {
        const reason = refusal(file, target);
        return reason === undefined ? [] : [`${file} imports ${target}: ${reason}`];
      }),
    );
    expect(refused).toEqual([]);
  });

  it('lead to files that exist', () => {
    const missing = [...imports].flatMap(([file, targets]) =>
      targets.filter((target) => target.endsWith('.ts') && !imports.has(target)).map((target) => [file, target]),
    );
    expect(missing).toEqual([]);
  });

  it('form no cycle, types and import() included', () => {
    expect(findCycle(imports)).toBeUndefined();
  });
});

describe('the rules for imports', () => {
  const statements = {
    value: (path: string) => `import { x } from '${path}';\nx();\n`,
    type: (path: string) => `import type { X } from '${path}';\nexport const x: X = 1;\n`,
    effect: (path: string) => `import '${path}';\n`,
    dynamic: (path: string) => `await import('${path}');\n`,
    reExport: (path: string) => `export { x } from '${path}';\n`,
    reExportAll: (path: string) => `export type * from '${path}';\n`,
  };
  const reasonFor = (file: string, text: string) => importsOf(file, text).map((target) => refusal(file, target));

  it.each(Object.keys(statements) as (keyof typeof statements)[])('hold for an import of the kind %s', (kind) => {
    const targets = [...Object.keys(ALLOWED), 'client/wire', 'client/trading', ...UNRESTRICTED];
    for (const [from, allowed] of Object.entries(ALLOWED)) {
      for (const to of targets.filter((folder) => folderOf(`${folder}/`) !== from)) {
        const may = allowed.includes(to);
        const through = reasonFor(`${from}/a/file.ts`, statements[kind](`../../${to}/index.js`));
        expect(through, `${from} imports ${to}`).toEqual([
          may ? undefined : expect.stringContaining(`${from}/ may import`),
        ]);
        const past = reasonFor(`${from}/file.ts`, statements[kind](`../${to}/part/thing.js`));
        expect(past, `${from} imports a file of ${to}`).toEqual([expect.stringContaining(`${from}/ may import`)]);
      }
      expect(reasonFor(`${from}/b/file.ts`, statements[kind]('../a/thing.js'))).toEqual([undefined]);
    }
    const trading = reasonFor('client/rest/file.ts', statements[kind]('../trading/index.js'));
    expect(trading).toEqual([expect.stringContaining('must not know the trading half')]);
  });

  it('find a cycle and name its files in order', () => {
    const graph = { 'a.ts': ['b.ts'], 'b.ts': ['c.ts', 'd.ts'], 'c.ts': [], 'd.ts': ['b.ts'] };
    expect(findCycle(new Map(Object.entries(graph)))).toEqual(['b.ts', 'd.ts', 'b.ts']);
  });

  it('name every folder that holds code, each with an index.ts', () => {
    const folders = [...new Set(files.map(folderOf))].filter(
      (folder) => folder !== '' && !UNRESTRICTED.includes(folder),
    );
    expect(folders.filter((folder) => !(folder in ALLOWED))).toEqual([]);
    expect(folders.filter((folder) => folder !== 'cli' && !existsSync(join(root, folder, 'index.ts')))).toEqual([]);
  });
});
