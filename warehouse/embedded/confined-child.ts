/** Runs `child.js` restricted to the files that it needs; if that is not possible, reports it and runs it unrestricted. */
import { fileURLToPath } from 'node:url';
import { confine, execNode } from './confine.js';
import { embeddedPaths } from './paths.js';
import { NOT_CONFINED } from './server-output.js';

const args = process.argv.slice(2);
const reason = confine(embeddedPaths(args[0] ?? ''));
if (reason === undefined) execNode(fileURLToPath(new URL('./child.js', import.meta.url)), args);
process.stderr.write(`${NOT_CONFINED}${reason}\n`);
await import('./child.js');
