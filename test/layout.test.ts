import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from './support/temporary-folder.js';

const root = join(import.meta.dirname, '..');
const storage = ['core', 'client', 'bus', 'warehouse'];
const allowed: Record<string, readonly string[]> = {
  core: [],
  client: ['core'],
  bus: ['core'],
  warehouse: ['core'],
  collectors: ['core', 'client', 'bus'],
  transforms: storage,
  datasets: storage,
  viewer: storage,
  exchange: ['core', 'client/wire'],
  bots: ['core', 'client', 'client/trading'],
  cli: [...storage, 'collectors', 'transforms', 'datasets', 'viewer', 'exchange', 'bots'],
};
const everyFolder = [...Object.keys(allowed), 'client/wire', 'client/trading', 'bench', 'test'];

interface Planted {
  readonly file: string;
  readonly refused: boolean;
}

describe('imports between folders', () => {
  const copy = temporaryFolder();

  it('are refused by the linter in every direction but the allowed ones, and through index.js only', () => {
    const planted: Planted[] = [];
    const plant = (file: string, statement: string, refused: boolean) => {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      writeFileSync(join(copy, file), statement);
      planted.push({ file, refused });
    };
    for (const [from, targets] of Object.entries(allowed)) {
      for (const to of everyFolder.filter((f) => !f.startsWith(from))) {
        const may = targets.includes(to);
        const name = to.replace('/', '-');
        plant(`${from}/a/static-${name}.ts`, `import { x } from '../../${to}/index.js';\nx();\n`, !may);
        plant(`${from}/type-${name}.ts`, `import type { X } from '../${to}/index.js';\nexport const x: X = 1;\n`, !may);
        plant(`${from}/dynamic-${name}.ts`, `await import('../${to}/index.js');\n`, !may);
        plant(`${from}/again-${name}.ts`, `export { x } from '../${to}/index.js';\n`, !may);
        plant(`${from}/inside-${name}.ts`, `import { x } from '../${to}/part/thing.js';\nx();\n`, true);
      }
      plant(`${from}/b/own.ts`, `import { x } from '../a/thing.js';\nx();\n`, false);
    }
    const found = refusedFiles(copy);
    expect(planted.filter((p) => found.has(p.file) !== p.refused)).toEqual([]);
  });

  it('have a rule for every folder that holds code, each with an index.ts', () => {
    const tracked = execFileSync('git', ['ls-files', '*.ts'], { cwd: root, encoding: 'utf8' }).split('\n');
    const folders = new Set(tracked.filter((f) => f.includes('/')).map((f) => f.slice(0, f.indexOf('/'))));
    const free = ['bench', 'test'];
    expect([...folders].filter((f) => !(f in allowed) && !free.includes(f))).toEqual([]);
    const without = [...folders].filter(
      (f) => !free.includes(f) && f !== 'cli' && !existsSync(join(root, f, 'index.ts')),
    );
    expect(without).toEqual([]);
  });
});

/** Lints the planted files with the project's own configuration; answers those with a refused import. */
function refusedFiles(folder: string): Set<string> {
  cpSync(join(root, 'biome.json'), join(folder, 'biome.json'));
  const names = readdirSync(folder).filter((name) => name !== 'biome.json');
  const result = spawnSync(
    join(root, 'node_modules/.bin/biome'),
    [
      'lint',
      '--only=style/noRestrictedImports',
      '--vcs-enabled=false',
      '--max-diagnostics=none',
      '--reporter=json',
      ...names,
    ],
    { cwd: folder, encoding: 'utf8', maxBuffer: 1e8 },
  );
  const report = JSON.parse(result.stdout) as { diagnostics: { category: string; location: { path: string } }[] };
  return new Set(
    report.diagnostics.filter((d) => d.category === 'lint/style/noRestrictedImports').map((d) => d.location.path),
  );
}
