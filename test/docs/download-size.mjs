// Prints what `npm ci` downloads and takes on this platform: the packages in npm's cache, the files in node_modules.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
let bytes = 0;
let missing = 0;
for (const [path, { integrity }] of Object.entries(packages)) {
  if (!integrity || !existsSync(path)) continue;
  const hash = Buffer.from(integrity.split('-')[1], 'base64').toString('hex');
  const file = join(cache, '_cacache/content-v2/sha512', hash.slice(0, 2), hash.slice(2, 4), hash.slice(4));
  if (existsSync(file)) bytes += statSync(file).size;
  else missing += 1;
}
const disk = Number(execFileSync('du', ['-sk', 'node_modules/'], { encoding: 'utf8' }).split('\t')[0]);
console.log(`downloaded ${Math.round(bytes / 1e6)} MB, on disk ${Math.round((disk * 1024) / 1e6)} MB`);
if (missing > 0) console.log(`${missing} packages are not in npm's cache: run npm ci first`);
