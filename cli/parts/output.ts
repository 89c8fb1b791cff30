import { describeError } from '../../core/index.js';

/**
 * From now on this process does not end because its standard output cannot be written, on a full disk for instance or
 * when its reader has gone; `say` is told once.
 */
export function goOnWithoutOutput(say: (line: string) => void): void {
  let said = false;
  process.stdout.removeAllListeners('error');
  process.stdout.on('error', (error) => {
    if (said) return;
    said = true;
    say(`cannot write to standard output (${describeError(error)}); the work goes on without it`);
  });
}
