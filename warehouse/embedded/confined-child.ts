/** `child.js`, confined to the files that it needs; as it is, and saying so, where that cannot be. */
import { fileURLToPath } from 'node:url';
import { become, confine } from './confine.js';
import { embeddedPaths } from './paths.js';
import { NOT_CONFINED } from './server-output.js';

const args = process.argv.slice(2);
const obstacle = confine(embeddedPaths(args[0] ?? ''));
if (obstacle === undefined) become(fileURLToPath(new URL('./child.js', import.meta.url)), args);
process.stderr.write(`${NOT_CONFINED}${obstacle}\n`);
await import('./child.js');
