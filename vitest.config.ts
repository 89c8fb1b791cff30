import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { GLOBS } from './test/projects.js';
import { SlowestFiles } from './test/support/slowest-files.js';

/** Takes minutes by design: started last, it would run alone when everything else has ended. */
const SLOWEST = /test\/chaos\/loop\.test\.ts$/;

/** Files that start processes first, so that the many short ones fill the time until the last has ended. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = (file: TestSpecification) => (file.project.name === 'fast' ? 2 : SLOWEST.test(file.moduleId) ? 0 : 1);
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

const project = (name: string, test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration => ({
  test: {
    name,
    setupFiles: ['test/support/property-seed.ts'],
    // They end what hangs; what must be fast is measured.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    ...test,
  },
});

export default defineConfig({
  test: {
    // Two cores: more than two real servers at a time only makes every test slower.
    maxWorkers: 2,
    globalSetup: ['test/support/services/setup.ts'],
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new SlowestFiles(), ...(process.env['CI'] ? ['json'] : [])],
    projects: [
      // Processes, not threads: ffi-rs, which takes file locks, ends the process when a thread that loaded it ends.
      project('fast', { include: GLOBS.all, exclude: [...GLOBS.services, ...GLOBS.chaos], isolate: false }),
      project('services', { include: GLOBS.services, exclude: GLOBS.chaos }),
      project('chaos', { include: GLOBS.chaos }),
    ],
  },
});
