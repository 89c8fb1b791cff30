// Bundles the viewer's page into dist/viewer/page/: one script, that of its shared worker, one style sheet, the page itself and its icon. Nothing of it
// is loaded from elsewhere.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const from = join(root, 'viewer/page');
const to = join(root, 'dist/viewer/page');

mkdirSync(to, { recursive: true });
await build({
  entryPoints: { app: join(from, 'main.ts'), 'stream-worker': join(from, 'stream-worker.ts') },
  outdir: to,
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['chrome110', 'firefox115', 'safari16'],
  tsconfig: join(from, 'tsconfig.json'),
  legalComments: 'inline',
  logLevel: 'warning',
});
for (const name of ['index.html', 'icon.svg']) copyFileSync(join(from, name), join(to, name));
