import { BAD_ANSWERS } from './scenarios/answers.ts';
import { CLOSED_DOORS } from './scenarios/closed-doors.ts';
import type { Behaviour } from './scenarios/exchange.ts';
import { guarded, honest, modern, modernOnly, stateful, streaming } from './scenarios/honest.ts';
import { BAD_LISTS } from './scenarios/lists.ts';

export type { Exchange, ToolClaim } from './scenarios/exchange.ts';
export { forgetSessions } from './scenarios/honest.ts';

/** What a tool server can be like, by the first part of its path. */
export const SCENARIOS = {
  honest,
  guarded,
  modern,
  'modern-only': modernOnly,
  stateful,
  streaming,
  ...BAD_LISTS,
  ...BAD_ANSWERS,
  ...CLOSED_DOORS,
} satisfies Record<string, Behaviour>;

export type Scenario = keyof typeof SCENARIOS;
