import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, it, onTestFinished, TestRunner } from 'vitest';

/** `onTestFinished` of the concurrent test that runs here; the imported one supports a single running test. */
const concurrent = new AsyncLocalStorage<typeof onTestFinished>();

/** Tests that run at the same time as the others of their suite, and as other suites that are `describe.concurrent`. */
export const concurrentIt = Object.assign(
  (name: string, run: () => Promise<void>) =>
    it.concurrent(name, (context) => concurrent.run(context.onTestFinished, run)),
  {
    each:
      <T>(cases: readonly T[]) =>
      (name: string, run: (value: T) => Promise<void>) =>
        it.concurrent.for(cases)(name, (value, context) => concurrent.run(context.onTestFinished, () => run(value))),
  },
);

/** Runs at the end of the running test; where none runs, at the end of the file or suite that is being defined. */
export function atEnd(run: () => unknown): void {
  const cleanUp = async () => {
    await run();
  };
  const ofTest = concurrent.getStore();
  if (ofTest) ofTest(cleanUp);
  else if (TestRunner.getCurrentTest() === undefined) afterAll(cleanUp);
  else onTestFinished(cleanUp);
}
