import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { GLOBS, SLOWEST } from './test/projects.js';
import { isSlowMachine } from './test/support/slow-machine.js';
import SlowestFiles from './test/support/slowest-files.js';

/** The slowest files first, then others that start processes, so that the short ones fill the time until the last has ended. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = (file: TestSpecification) => {
      const slow = SLOWEST.findIndex((name) => file.moduleId.endsWith(name));
      if (slow >= 0) return slow;
      return SLOWEST.length + (file.project.name === 'fast' ? 1 : 0);
    };
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

const project = (name: string, test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration => ({
  test: {
    name,
    setupFiles: ['test/support/property-seed.ts'],
    // They end what hangs; what must be fast is measured.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 180_000 } },
    ...test,
  },
});

export default defineConfig({
  test: {
    // One more than the cores that it is meant for: tests wait for servers and timers a third of their time.
    maxWorkers: 3,
    maxConcurrency: isSlowMachine ? 1 : 5,
    globalSetup: ['test/support/services/setup.ts'],
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new SlowestFiles()],
    projects: [
      // Processes, not threads: ffi-rs, which takes file locks, ends the process when a thread that loaded it ends.
      project('fast', {
        include: GLOBS.all,
        exclude: [...GLOBS.services, ...GLOBS.chaos, ...GLOBS.timed],
        isolate: false,
      }),
      project('services', { include: GLOBS.services, exclude: [...GLOBS.chaos, ...GLOBS.timed], isolate: false }),
      project('chaos', {
        include: GLOBS.chaos,
        exclude: GLOBS.timed,
        isolate: false,
        // Each runs a market with all of its processes: of three at a time all get slower, and trade on meanwhile.
        maxWorkers: 2,
        sequence: { groupOrder: 1 },
      }),
      project('timed', { include: GLOBS.timed, isolate: false, maxWorkers: 1, sequence: { groupOrder: 2 } }),
    ],
  },
});
