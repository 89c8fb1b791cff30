// Takes the lock on the file and says so; then waits for SIGKILL, or releases it when its standard input ends.
import { ProcessLock } from '../../../dist/core/index.js';

const [path] = process.argv.slice(2);
try {
  const lock = ProcessLock.acquire(path);
  process.stdout.write('held\n');
  process.stdin.resume().on('end', () => lock.release());
} catch (error) {
  process.stdout.write(`${error.message}\n`);
}
