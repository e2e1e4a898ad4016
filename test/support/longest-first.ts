import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, most of it waiting; on a machine that has not run them yet nothing else tells. */
const LONGEST = [
  'test/ui/routines.test.ts',
  'test/ui/keyboard.test.ts',
  'test/ui/run-sections.test.ts',
  'test/ui/connections.test.ts',
  'test/ui/whole-way.test.ts',
  'test/ui/reading.test.ts',
  'test/ui/model-accounts.test.ts',
  'test/ui/home.test.ts',
  'test/ui/settings.test.ts',
  'test/faults/outages.test.ts',
  'test/faults/worker-kill.test.ts',
  'test/runtime/protocols.test.ts',
  'test/faults/chaos.test.ts',
  'test/core/scheduling/minute.test.ts',
  'test/core/models/connections/runs/faults.test.ts',
  'test/core/execution/steps/model-faults.test.ts',
  'test/core/integrations/tools/hostile-runs.test.ts',
];

/** Starts the longest files of each project first, so that no file runs alone at the end of the project. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- no array, but the sequencer's own method
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.indexOf(path.relative(process.cwd(), moduleId));
      return at === -1 ? LONGEST.length : at;
    };
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).toSorted((a, b) => rank(a) - rank(b)),
    );
  }
}
