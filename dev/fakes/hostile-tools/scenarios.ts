import type { Scenario } from './control.ts';
import { BAD_ANSWERS } from './scenarios/answers.ts';
import { CLOSED_DOORS } from './scenarios/closed-doors.ts';
import type { Behaviour } from './scenarios/exchange.ts';
import { announcing, guarded, honest, modern, modernOnly, stateful, streaming } from './scenarios/honest.ts';
import { BAD_LISTS } from './scenarios/lists.ts';

export type { Exchange } from './scenarios/exchange.ts';
export { forgetSessions } from './scenarios/honest.ts';

export const SCENARIOS: Readonly<Record<Scenario, Behaviour>> = {
  honest,
  guarded,
  modern,
  'modern-only': modernOnly,
  stateful,
  streaming,
  announcing,
  ...BAD_LISTS,
  ...BAD_ANSWERS,
  ...CLOSED_DOORS,
};

export type { Scenario, ToolClaim } from './control.ts';
