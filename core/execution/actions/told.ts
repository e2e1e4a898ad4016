import { MAX_CARRIED_LENGTH } from '#core/authoring/definition/index.ts';
import { redact } from '#core/integrations/tools/index.ts';
import type { JsonObject } from '#lib/json.ts';
import { cut } from '#lib/text.ts';
import { ACTION_REASONS, ACTION_STATES, type ActionReason, type ActionState } from './action.ts';

/** An ended action as the prompt of later runs shows it. */
export interface ToldAction {
  readonly toolName: string;
  readonly connectionName: string;
  readonly state: ActionState;
  readonly reason: ActionReason | null;
  readonly note: string | null;
  readonly arguments: JsonObject | null;
  readonly isChanged: boolean;
  readonly result: string | null;
  readonly errorMessage: string | null;
  readonly finishedAt: string;
}

/** Characters of the arguments, and of the answer, of one action in a prompt. */
const SHOWN_LENGTH = 1_000;

/** Writes the results of actions as text: material, not instructions. */
export function actionsInWords(told: readonly ToldAction[]): string {
  return cut(told.map(inWords).join('\n\n'), MAX_CARRIED_LENGTH);
}

function inWords(action: ToldAction): string {
  const { toolName, connectionName, state, reason, note, arguments: args, isChanged, result, errorMessage } = action;
  const why = reason === null ? '' : `, because ${ACTION_REASONS[reason]}`;
  const lines = [
    `${toolName} of ${connectionName}: ${ACTION_STATES[state]}${why} (${action.finishedAt}).`,
    ...(args === null
      ? []
      : [
          `${isChanged ? 'Changed by a person to' : 'Called with'} ${cut(redact(JSON.stringify(args), []), SHOWN_LENGTH)}`,
        ]),
    ...(note === null ? [] : [`The person wrote: ${note}`]),
    ...(errorMessage === null ? [] : [errorMessage]),
    ...(result === null ? [] : [`The tool answered: ${cut(result, SHOWN_LENGTH)}`]),
  ];
  return lines.join('\n');
}
