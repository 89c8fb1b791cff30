// Writes npm-shrinkwrap.json: package-lock.json without the packages of development. npm installs a published package with
// exactly these versions; package-lock.json is not part of a package, and `overrides` hold in this repository only.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
lock.packages = Object.fromEntries(Object.entries(lock.packages).filter(([, { dev }]) => !dev));
delete lock.packages[''].devDependencies;
writeFileSync(join(root, 'npm-shrinkwrap.json'), `${JSON.stringify(lock, null, 2)}\n`);
