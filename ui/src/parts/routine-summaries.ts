import type { Shape } from '#ui/api/types.ts';
import { exactMoney, plural, shortCount } from '#ui/format/numbers.ts';
import { date, duration } from '#ui/format/times.ts';
import { isDefault, labelOf, listInWords, OTHER_FIELDS, type GROUPS, type RoutineField } from './routine-fields.ts';

/** The settings of a routine, saved or being written. */
type Settings = Pick<Shape<'Routine'>, Exclude<RoutineField, 'model'>>;

export type Group = Exclude<keyof typeof GROUPS, 'What it does' | 'Schedule'>;

/** Writes the settings of each group in one line, for the composer and for the page of the routine. */
export const SUMMARIES: Readonly<Record<Group, (settings: Settings) => string>> = {
  Results: ({ outcome, checks, carryResult, facts, resultSchema }) =>
    joined(
      resultSchema === null ? 'Free text' : 'Data by a schema',
      outcome === 'required' && 'states its outcome',
      checks.length > 0 && plural(checks.length, 'check'),
      carryResult ? 'gets the last result' : 'does not get the last result',
      facts && 'gets the project facts',
    ),
  'Checked before it runs': ({ gate }) => {
    if (gate === null) return 'Nothing: every run asks the model';
    const what = gate.tool === null ? gate.url || 'an address' : 'a tool';
    const parts = gate.pointers.length > 0 && `compares ${plural(gate.pointers.length, 'part')} of the response`;
    return joined(`Runs only when ${what} ${gate.wakeOn === 'changed' ? 'has changed' : 'is not empty'}`, parts);
  },
  Limits: ({ limits, budget }) =>
    joined(
      `${plural(limits.maxSteps, 'step')} and ${duration(limits.timeoutSeconds * 1_000)} a run`,
      limits.maxTotalTokens !== null && `${shortCount(limits.maxTotalTokens)} tokens a run`,
      budget.maxCostUsdPerMonth !== null && `${exactMoney(budget.maxCostUsdPerMonth)} a month`,
      budget.maxTokensPerDay !== null && `${shortCount(budget.maxTokensPerDay)} tokens a day`,
    ),
  When: ({ startsAt, endsAt, skipDates, jitterSeconds, overlap, misfire, mayPutOffHours, mayComplete }) =>
    joined(
      startsAt !== null && `from ${date(new Date(startsAt))}`,
      endsAt !== null && `until ${date(new Date(endsAt))}`,
      skipDates.length > 0 && `${plural(skipDates.length, 'date')} left out`,
      jitterSeconds > 0 && `up to ${duration(jitterSeconds * 1_000)} later`,
      OVERLAP[overlap],
      misfire === 'run_once' ? 'makes up a missed run' : 'leaves missed runs out',
      mayPutOffHours !== null && 'may put off the next run',
      mayComplete && 'may complete itself',
    ),
  'Asking people': ({ mayAsk, afterAnswer, afterApproval, decisionHours }) =>
    joined(
      mayAsk ? 'May ask questions' : 'Asks no questions',
      mayAsk && afterAnswer === 'run' && 'runs at each answer',
      afterApproval === 'run' && 'runs once more after an approval',
      `${plural(decisionHours, 'hour')} to decide`,
    ),
  'Who is told': ({ resultsTo, webhookUrl, notifications: { mail, successPingUrl } }) =>
    joined(
      resultsTo.mail !== null && 'results by mail',
      resultsTo.chats.length > 0 && `results in ${plural(resultsTo.chats.length, 'chat')}`,
      mail === null ? 'mail as the project sets it' : mail.on.length === 0 ? 'no mail' : 'mail',
      webhookUrl !== null && 'webhook',
      successPingUrl !== null && 'monitor',
    ),
  More: (settings: Partial<Record<RoutineField, unknown>>) => {
    const set = OTHER_FIELDS.filter((name) => !isDefault(name, settings[name]));
    return set.length === 0 ? 'Nothing set' : listInWords(set.map(labelOf));
  },
};

const OVERLAP: Readonly<Record<Settings['overlap'], string>> = {
  skip: 'one at a time',
  queue: 'one after the other',
  cancel_previous: 'the newest only',
  allow: 'side by side',
};

function joined(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join(', ');
}
