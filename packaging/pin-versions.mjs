// Before packing: writes npm-shrinkwrap.json (package-lock.json without the packages of development), from which npm installs a published
// package with exactly these versions; and names every package of it in package.json, because npm does not read that file of a tarball
// that is installed by its path. `overrides` hold in this repository only. After packing (`--restore`) both are as before.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const shrinkwrap = join(root, 'npm-shrinkwrap.json');
const manifest = join(root, 'package.json');
const original = join(root, 'package.json.unpinned');
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

// Also before packing: a pack that was interrupted has not restored it.
if (existsSync(original)) renameSync(original, manifest);
if (process.argv.includes('--restore')) {
  rmSync(shrinkwrap, { force: true });
} else {
  const lock = readJson(join(root, 'package-lock.json'));
  lock.packages = Object.fromEntries(Object.entries(lock.packages).filter(([, { dev }]) => !dev));
  delete lock.packages[''].devDependencies;

  const dependencies = {};
  const optionalDependencies = {};
  // Of several versions of a package only one can be named: that at the top.
  const fromTheTop = Object.entries(lock.packages).sort(([a], [b]) => a.split('/').length - b.split('/').length);
  for (const [path, { version, optional }] of fromTheTop) {
    if (path === '') continue;
    const name = path.replace(/^.*node_modules\//, '');
    (optional ? optionalDependencies : dependencies)[name] ??= version;
  }
  Object.assign(lock.packages[''], { dependencies, optionalDependencies });
  writeJson(shrinkwrap, lock);

  renameSync(manifest, original);
  const { devDependencies, overrides, ...rest } = readJson(original);
  writeJson(manifest, { ...rest, dependencies, optionalDependencies });
}
