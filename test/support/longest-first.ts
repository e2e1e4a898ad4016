import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import DURATIONS from './durations.json' with { type: 'json' };

const SECONDS: Readonly<Record<string, number>> = DURATIONS;

/** Starts the longest files of each project first, so that no file runs alone at the end. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- no array, but the sequencer's own method
    const sorted = await super.sort(files);
    const secondsOf = ({ moduleId }: TestSpecification) => SECONDS[path.relative(process.cwd(), moduleId)] ?? 0;
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).toSorted((a, b) => secondsOf(b) - secondsOf(a)),
    );
  }
}
