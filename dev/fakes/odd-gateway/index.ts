/**
 * Answers of model servers as people reported them: a table of cases, each with the bytes sent and the expected end of
 * a run. `test/core/execution/steps/odd-gateway.test.ts` runs them all. A new report is a new line.
 */
import { CALLS } from './calls.ts';
import type { OddCase } from './case.ts';
import { ENDS } from './ends.ts';
import { FAULTS } from './faults.ts';
import { FORMS } from './forms.ts';
import { THOUGHTS } from './thoughts.ts';

export type { OddCase } from './case.ts';

export const ODD_CASES: readonly OddCase[] = [...ENDS, ...FAULTS, ...FORMS, ...THOUGHTS, ...CALLS];
