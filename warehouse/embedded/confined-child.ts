/** Runs `child.js` restricted to the files that it needs; if that is not possible, it reports the reason and exits. */
import { fileURLToPath } from 'node:url';
import { confine, execNode } from './confine.js';
import { embeddedPaths } from './paths.js';
import { FAILED } from './server-output.js';

const args = process.argv.slice(2);
try {
  confine(embeddedPaths(args[0] ?? ''));
  execNode(fileURLToPath(new URL('./child.js', import.meta.url)), args);
} catch (error) {
  process.stderr.write(`${FAILED}${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
