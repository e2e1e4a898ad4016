import { fence, PREAMBLE, renderPrompt } from '#core/prompt/index.ts';
import type { EvalCase } from './cases.ts';

export interface EvaluatedSkill {
  readonly slug: string;
  readonly name: string;
  readonly instructions: string;
}

export interface PromptMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
}

/** The instant that every case is set on, so that two evaluations differ by the model only. */
const NOW = new Date('2026-11-22T06:00:00Z');
const LAST_RUN = new Date('2026-11-15T06:00:04Z');

/**
 * Renders what a run would be told, by the product's own code, and behind it the data, which a run would read with its
 * tools.
 */
export function messagesOf(
  evalCase: EvalCase,
  skill: EvaluatedSkill | null,
  tools: readonly { readonly name: string }[],
): PromptMessage[] {
  const opening = renderPrompt({
    instructions: evalCase.task,
    variables: {},
    fencedVariables: [],
    skills: skill === null ? [] : [skill],
    routineName: 'Evaluation',
    runId: 'run_evaluation',
    startedAt: NOW,
    timezone: 'Europe/Berlin',
    trigger: 'schedule',
    runAt: null,
    scheduledFor: NOW,
    retryOf: null,
    tools,
    maxSteps: 25,
    timeoutSeconds: 900,
    maxTotalTokens: null,
    maxOutputTokens: null,
    outcomeRule: 'optional',
    carryResult: true,
    previousData: null,
    resultForm: null,
    previous:
      evalCase.previous === null ? undefined : { result: evalCase.previous, finishedAt: LAST_RUN },
  });
  if (opening === undefined) throw new Error('the text of the case is too large for a run');
  const data = Object.entries(evalCase.data).map(([name, text]) =>
    fence(`The data "${name}" of this run`, text.trim()),
  );
  return [
    { role: 'system', content: PREAMBLE },
    { role: 'user', content: [opening.prompt, opening.briefing, ...data].join('\n\n') },
  ];
}

/**
 * Collects the text of a case from which a report may take figures: neither the limits of the run nor the marks of a
 * fence, nor the invented page that a skill shows as its sample.
 */
export function figuresGiven(evalCase: EvalCase, skill: EvaluatedSkill | null): string {
  const { task, previous, data } = evalCase;
  const taught = (skill?.instructions ?? '').replaceAll(/^```text\n[\s\S]*?^```$/gm, '');
  return [task, taught, previous ?? '', ...Object.values(data)].join('\n');
}
