import { ANSWER_CASES } from './cases/answers.ts';
import { LIST_CASES } from './cases/lists.ts';
import { SCHEMA_CASES } from './cases/schemas.ts';
import { SESSION_CASES } from './cases/sessions.ts';
import type { OddCase } from './odd-case.ts';

/** Every odd way of a tool server that was seen somewhere; a new report becomes a line of one of these tables. */
export const ODD_CASES: readonly OddCase[] = [...LIST_CASES, ...SCHEMA_CASES, ...ANSWER_CASES, ...SESSION_CASES];
