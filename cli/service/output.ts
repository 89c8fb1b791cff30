import { describeError } from '../../core/index.js';

/**
 * Makes errors of standard output (full disk, closed pipe) not end this process.
 * @param report called with the first error
 */
export function ignoreOutputErrors(report: (line: string) => void): void {
  let reported = false;
  process.stdout.removeAllListeners('error');
  process.stdout.on('error', (error) => {
    if (reported) return;
    reported = true;
    report(`cannot write to standard output (${describeError(error)}); continuing without it`);
  });
}
