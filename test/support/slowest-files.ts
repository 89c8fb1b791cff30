import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;

/** Prints the slowest files, imports and set-up included, at the end of a run of many. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= SHOWN) return;
    const files = modules.map((module) => {
      const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } =
        module.diagnostic();
      const ms = environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration;
      return { project: module.project.name, file: module.relativeModuleId, seconds: ms / 1000 };
    });
    files.sort((a, b) => b.seconds - a.seconds);
    console.log(`The ${SHOWN} slowest of ${files.length} files:`);
    for (const { project, file, seconds } of files.slice(0, SHOWN)) {
      console.log(`${seconds.toFixed(1).padStart(7)} s  ${project.padEnd(8)}  ${file}`);
    }
  }
}
