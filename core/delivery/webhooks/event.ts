import type { Usage } from '#core/foundation/cost/index.ts';
import type { Trigger } from '#core/foundation/engine/index.ts';
import type { PausedRoutine } from '#core/events.ts';
import type { Routine } from '#core/authoring/routines/index.ts';
import { urgencyOf, type ComparedResult, type Urgency } from '#core/authoring/outcomes/index.ts';
import { utf8Start } from '#lib/text.ts';

/** An ended run with the fields of its event. Skipped occurrences have no event. */
export interface ReportedRun extends Omit<Usage, 'estimated'> {
  readonly id: string;
  readonly routineId: string;
  readonly projectId: string;
  readonly trigger: Trigger;
  readonly state: 'succeeded' | 'failed' | 'cancelled';
  readonly reason: string | null;
  readonly errorMessage: string | null;
  readonly scheduledFor: Date | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date;
  readonly result: string | null;
  /** Outcome of the run; null unless it succeeded. */
  readonly outcome: string | null;
  readonly outcomeSummary: string | null;
  readonly statedUrgency: Urgency | null;
  readonly checks: readonly { readonly type: string; readonly passed: boolean; readonly detail: string }[];
  readonly warnings: readonly string[];
  /** Data of the result in the form of its routine's `resultSchema`; null without one. */
  readonly data: unknown;
  readonly changes: ComparedResult | null;
  readonly deliver: Routine['deliver'];
  /** US dollars as a decimal string; null when the model has no price. */
  readonly costUsd: string | null;
  /** True when the provider stated no usage for some step, so that it was estimated. */
  readonly estimatedUsage: boolean;
}

/** A question of a run with the fields of its event. */
export interface ReportedQuestion {
  readonly type: 'question.asked' | 'question.answered';
  readonly id: string;
  readonly routineId: string;
  readonly projectId: string;
  /** The run that asked it last. */
  readonly runId: string;
  readonly question: string;
  readonly choices: readonly string[] | null;
  readonly defaultAnswer: string | null;
  /** Null until it is answered. */
  readonly answer: string | null;
  readonly expiresAt: Date;
  readonly at: Date;
}

export const EVENT_TYPES = [
  'run.succeeded',
  'run.changed',
  'run.failed',
  'run.cancelled',
  'routine.paused',
  'action.held',
  'action.decided',
  'question.asked',
  'question.answered',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const TEST_EVENT = 'webhook.test';

/** Returns the type of the event: `run.changed` if the routine delivers changes and the run has some. */
export function eventType(run: ReportedRun): EventType {
  if (run.deliver === 'changed' && run.changes !== null) return 'run.changed';
  return `run.${run.state}`;
}

/** The longest result text of an event, in bytes of UTF-8. The run's detail has all of it. */
export const MAX_RESULT_BYTES = 256 * 1024;

/** Builds the JSON text that is signed and sent. It is stored as text, so every attempt sends the same bytes. */
export function eventBody(run: ReportedRun): string {
  const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens, costUsd } = run;
  const { estimatedUsage: estimated } = run;
  return JSON.stringify({
    type: eventType(run),
    timestamp: run.finishedAt,
    data: {
      id: run.id,
      routineId: run.routineId,
      projectId: run.projectId,
      trigger: run.trigger,
      state: run.state,
      reason: run.reason,
      errorMessage: run.errorMessage,
      scheduledFor: run.scheduledFor,
      createdAt: run.createdAt,
      startedAt: run.startedAt,
      finishedAt: run.finishedAt,
      outcome: run.outcome,
      outcomeSummary: run.outcomeSummary,
      urgency: urgencyOf(run),
      checks: run.checks.map(({ type, passed, detail }) => ({ type, passed, detail })),
      warnings: run.warnings,
      ...limitedResult(run.result),
      data: run.data,
      changes: run.changes,
      usage: {
        inputTokens,
        cachedInputTokens,
        outputTokens,
        reasoningTokens,
        totalTokens: inputTokens + outputTokens,
        costUsd,
        estimated,
      },
    },
  });
}

export function pausedBody(routine: PausedRoutine, runId: string | null): string {
  return JSON.stringify({
    type: 'routine.paused' satisfies EventType,
    timestamp: routine.pausedAt,
    data: {
      routineId: routine.id,
      projectId: routine.projectId,
      name: routine.name,
      state: 'paused',
      reason: routine.stateReason,
      runId,
    },
  });
}

/** A held call of a tool that waits for a person, or was decided. */
export interface ReportedAction {
  readonly type: Extract<EventType, `action.${string}`>;
  readonly id: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly runId: string;
  readonly state: string;
  readonly reason: string | null;
  readonly toolName: string;
  readonly connectionId: string;
  readonly expiresAt: Date;
  readonly at: Date;
}

/** Builds the JSON text of an event about a held call. Its arguments are only on its page. */
export function actionBody({ type, at, ...action }: ReportedAction, url: string): string {
  const { id, projectId, routineId, runId, state, reason, toolName, connectionId, expiresAt } = action;
  return JSON.stringify({
    type,
    timestamp: at,
    data: { id, projectId, routineId, runId, state, reason, toolName, connectionId, expiresAt, url },
  });
}

export function questionBody(told: ReportedQuestion): string {
  const { type, at, id, routineId, projectId, runId, question, choices, defaultAnswer, answer, expiresAt } = told;
  return JSON.stringify({
    type,
    timestamp: at,
    data: { id, routineId, projectId, runId, question, choices, default: defaultAnswer, answer, expiresAt },
  });
}

function limitedResult(result: string | null): { result: string | null; resultTruncated: boolean } {
  if (result === null || Buffer.byteLength(result) <= MAX_RESULT_BYTES) return { result, resultTruncated: false };
  return { result: utf8Start(Buffer.from(result), MAX_RESULT_BYTES), resultTruncated: true };
}
