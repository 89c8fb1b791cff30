import { describe, it } from 'vitest';

/**
 * A suite that cannot run because of a missing dependency outside of npm: it is skipped with a message, and fails if
 * CI=true, unless it was configured to run on something unsuitable.
 */
export function describeWithout(
  name: string,
  why: string,
  { failsInCi = true }: { readonly failsInCi?: boolean },
  body: () => void,
): void {
  if (failsInCi && process.env['CI'] === 'true') {
    describe(name, () => it(`has a missing dependency: ${why}`, () => Promise.reject(new Error(why))));
    return;
  }
  console.warn(`${name}: skipped, ${why}`);
  describe.skip(name, body);
}
