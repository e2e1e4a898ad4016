import { fence } from './fence.ts';
import type { GateVerdict } from '#core/gate/index.ts';

/** Fills `{{gate.value}}`: fenced, and empty when the gate failed or was not asked. */
export function gateText(verdict: GateVerdict | null): string {
  if (verdict?.value == null) return '';
  const { value, valueLength } = verdict;
  const whole = valueLength === null || valueLength <= value.length;
  const rest = whole ? '' : `\n[cut here: ${valueLength} characters in all]`;
  return fence('What the gate of this routine saw', `${value}${rest}`);
}

/** Says for the briefing why the run goes on. */
export function wordsOnGate({ reason, error, changed }: GateVerdict): string {
  switch (reason) {
    case 'first':
      return 'it was asked for the first time since this routine was changed, so there is nothing to compare with';
    case 'changed':
      return 'what it watches has changed since the last run that succeeded';
    case 'not_empty':
      return 'what it watches is not empty';
    case 'quiet_too_long':
      return `nothing woke this routine for long, so it runs in any case; ${sinceLast(changed)}`;
    case 'manual':
      return `it was asked for its value only, as this run was started by hand; ${sinceLast(changed)}`;
    default:
      return `it could not be asked, so whether anything has changed is not known; say so in the result. ${error ?? ''}`;
  }
}

function sinceLast(changed: boolean | null): string {
  if (changed === null) return 'there is nothing to compare with';
  return `what it watches has ${changed ? '' : 'not '}changed since the last run that succeeded`;
}
