import { ANSWER_CASES } from './cases/answers.ts';
import { LIST_CASES } from './cases/lists.ts';
import { SCHEMA_CASES } from './cases/schemas.ts';
import { SESSION_CASES } from './cases/sessions.ts';
import type { OddCase } from './odd-case.ts';

/** Every odd behaviour of a tool server that was seen. A new report is a new line in one of these tables. */
export const ODD_CASES: readonly OddCase[] = [...LIST_CASES, ...SCHEMA_CASES, ...ANSWER_CASES, ...SESSION_CASES];
