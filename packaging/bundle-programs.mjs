// Bundles what starts as a process of its own, with the packages that it imports: Node.js reads a few files instead of 900, so
// each command uses half as much processor time to start. Replaces the compiled files of the same names; the parts that they
// share are in dist/bundled/, and the licences of the packages in dist/THIRD-PARTY-NOTICES.txt.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

// Packages with files of their own to load at run time.
const EXTERNAL = ['@node-rs/crc32', 'chdb', 'ffi-rs', 'kafkajs', 'lmdb', 'parquet-wasm', 'pino'];

rmSync(join(dist, 'bundled'), { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: [
    'cli/main.ts',
    'cli/commands/*.ts',
    'bots/child.ts',
    'warehouse/embedded/child.ts',
    'warehouse/embedded/confined-child.ts',
  ],
  outbase: root,
  outdir: dist,
  chunkNames: 'bundled/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  // jsonc-parser's CommonJS files cannot be bundled.
  mainFields: ['module', 'main'],
  target: 'node20',
  external: EXTERNAL.flatMap((name) => [name, `${name}/*`]),
  // undici compares with the Headers of Node.js, if there are any: reading them loads a second undici, which is in Node.js.
  define: { 'globalThis.Headers': 'undefined' },
  // Error classes are named after their class, also where two modules have one of the same name.
  keepNames: true,
  sourcemap: true,
  sourcesContent: false,
  // For CommonJS packages.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
  },
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});

const folders = new Set(
  Object.keys(metafile.inputs).flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
);
const notices = [...folders].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const texts = readdirSync(join(root, folder)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  const text = texts.map((file) => readFileSync(join(root, folder, file), 'utf8').trim()).join('\n\n');
  return `${name} ${version} (${license})\n\n${text}`;
});
writeFileSync(join(dist, 'THIRD-PARTY-NOTICES.txt'), `${notices.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
