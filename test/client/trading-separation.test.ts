import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as reading from '../../client/index.js';
import * as trading from '../../client/trading/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const root = join(import.meta.dirname, '../..');

/** Every file of the project that a file imports, at once or through others. */
function reachableFrom(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(join(root, file), 'utf8');
  for (const [, path = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
    reachableFrom(relative(root, join(root, dirname(file), path.replace(/\.js$/, '.ts'))), seen);
  }
  return seen;
}

describe('the read-only client and the trading client', () => {
  it('are separate: the imports of chancery/client never reach a file that trades', () => {
    const files = [...reachableFrom('client/index.ts')];
    expect(files).toContain('client/account-client.ts');
    expect(files).toContain('client/rest/account/wallet.ts');
    expect(files.filter((file) => file.startsWith('client/trading/'))).toEqual([]);
    expect([...reachableFrom('client/trading/index.ts')]).toContain('client/trading/api-key-admin.ts');
  });

  it('are separate: no file outside client/trading/ contains a request that places an order or creates a key', () => {
    const files = [...reachableFrom('client/index.ts')].filter((file) => file.startsWith('client/'));
    const posts = files.filter((file) => /method: '(POST|DELETE)'/.test(readFileSync(join(root, file), 'utf8')));
    // Event search asks by POST, and logging in changes nothing of the account.
    expect(posts.sort()).toEqual(['client/auth/login.ts', 'client/rest/events.ts']);
    expect(Object.keys(reading).filter((name) => name in trading)).toEqual([]);
    expect(Object.keys(trading).sort()).toEqual(['ApiKeyAdmin', 'TradingClient']);
  });

  const copy = temporaryFolder();

  it('are kept separate by the linter, in the client and in every folder that only reads', () => {
    const plant = (file: string, from: string) => {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      writeFileSync(join(copy, file), `import { x } from '${from}';\nx();\n`);
    };
    const refused = [
      'client/a.ts',
      'client/rest/b.ts',
      'collectors/c.ts',
      'transforms/d.ts',
      'viewer/e.ts',
      'datasets/f.ts',
      'cli/g.ts',
    ];
    for (const file of refused)
      plant(
        file,
        file.startsWith('client/')
          ? file.includes('rest')
            ? '../trading/index.js'
            : './trading/index.js'
          : '../client/trading/index.js',
      );
    plant('client/trading/h.ts', '../rest/params.js');
    plant('client/trading/i.ts', './once.js');
    plant('collectors/j.ts', '../client/index.js');
    cpSync(join(root, 'biome.json'), join(copy, 'biome.json'));
    const args = [
      'lint',
      '--only=style/noRestrictedImports',
      '--vcs-enabled=false',
      '--max-diagnostics=none',
      '--reporter=json',
    ];
    const folders = ['client', 'collectors', 'transforms', 'viewer', 'datasets', 'cli'];
    const result = spawnSync(join(root, 'node_modules/.bin/biome'), [...args, ...folders], {
      cwd: copy,
      encoding: 'utf8',
    });
    const report = JSON.parse(result.stdout) as { diagnostics: { category: string; location: { path: string } }[] };
    const found = report.diagnostics
      .filter(({ category }) => category === 'lint/style/noRestrictedImports')
      .map(({ location }) => location.path);
    expect([...new Set(found)].sort()).toEqual([...refused].sort());
  });
});
