import { describe, it } from 'vitest';

/**
 * A suite that cannot run, for something is missing that npm cannot bring: it is skipped, with a line that says why, and
 * fails where CI=true, unless it was asked to run on something that will not do.
 */
export function describeWithout(
  name: string,
  why: string,
  { failsInCi = true }: { readonly failsInCi?: boolean },
  body: () => void,
): void {
  if (failsInCi && process.env['CI'] === 'true') {
    describe(name, () => it(`needs what is not there: ${why}`, () => Promise.reject(new Error(why))));
    return;
  }
  console.warn(`${name}: skipped, ${why}`);
  describe.skip(name, body);
}
