import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose files take minutes, longest first: begun last, one of them would run alone at the end. */
const LONG = ['test/chaos/', 'test/pipeline/', 'test/dashboards/', 'test/warehouse/cluster/'];

/** Begins with the test files that take longest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONG.findIndex((folder) => moduleId.includes(`/${folder}`));
      return index === -1 ? LONG.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
