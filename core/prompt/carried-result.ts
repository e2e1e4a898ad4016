import { MAX_CARRIED_LENGTH } from '#core/routines/index.ts';
import { cutKeepingState } from '#core/skills/index.ts';
import { fence } from './fence.ts';
import type { PreviousRun } from './previous-run.ts';

/** Length below which a carried result is of no use. */
const LEAST_LENGTH = 1_000;

/**
 * Says what the run is told about the previous result. A skill has to distinguish three cases: there is none, there is
 * one that cannot be read, and the routine does not carry it. In the first everything is new, in the others nothing is
 * known to be.
 * @param room characters that are left for the text of the run
 * @param inInstructions true when the instructions hold it already, by their placeholder
 */
export function wordsOnPrevious(
  previous: PreviousRun | undefined,
  {
    carryResult,
    inInstructions,
    room,
  }: { readonly carryResult: boolean; readonly inInstructions: boolean; readonly room: number },
): string {
  if (!carryResult && !inInstructions) {
    return 'Previous result: this routine does not carry it over. Whether there is one is not known here; say nothing about changes since then.';
  }
  if (previous === undefined) {
    return 'Previous result: there is none. No earlier run of this routine is on record as succeeded.';
  }
  const at = previous.finishedAt.toISOString();
  if (previous.result === null) {
    return `Previous result: there is one, of ${at}, but it cannot be read: its text is no longer kept.`;
  }
  if (inInstructions) return `Previous result: of ${at}; it stands in the instructions.`;
  if (room < LEAST_LENGTH) {
    return `Previous result: there is one, of ${at}, but it cannot be read: the text of this routine leaves no room for it.`;
  }
  const result = cutKeepingState(previous.result, Math.min(MAX_CARRIED_LENGTH, room));
  return fence(`Previous result: the one of ${at}, the last run that succeeded,`, result);
}

/** Fills `{{previous.result}}`: fenced, and empty when there is nothing to read. */
export function previousText(previous: PreviousRun | undefined): string {
  if (previous?.result == null) return '';
  return fence('The previous result', cutKeepingState(previous.result, MAX_CARRIED_LENGTH));
}
