import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Takes minutes by design: begun last, it would run on alone when everything else has ended. */
const LONGEST = /test\/chaos\/loop\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const first = (file: TestSpecification) => (LONGEST.test(file.moduleId) ? 0 : 1);
    return sorted.sort((a, b) => first(a) - first(b));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/property-seed.ts'],
    // They end what hangs; what must be fast is measured.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Two cores: more than two real servers at a time only makes every test slower.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    reporters: process.env['CI'] ? ['default', ['json', { outputFile: '.cache/vitest.json' }]] : ['default'],
  },
});
