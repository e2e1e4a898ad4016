import { utf8Start } from './utf8.ts';

/** A run that has ended, with everything its event tells. `skipped` occurrences have none. */
export interface EndedRun {
  readonly id: string;
  readonly routineId: string;
  readonly projectId: string;
  readonly trigger: 'schedule' | 'manual';
  readonly state: 'succeeded' | 'failed' | 'cancelled';
  readonly reason: string | null;
  readonly errorMessage: string | null;
  readonly scheduledFor: Date | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date;
  readonly result: string | null;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** US dollars, a decimal string; null where the model quotes no price. */
  readonly costUsd: string | null;
}

export type EventType = `run.${EndedRun['state']}`;

export const eventType = (run: EndedRun): EventType => `run.${run.state}`;

/** Result text beyond this many bytes of UTF-8 is left out of the event; the run's detail has all of it. */
export const MAX_RESULT_BYTES = 256 * 1024;

/** The JSON text that is signed and sent. It is stored as it is, so every attempt sends the same bytes. */
export function eventBody(run: EndedRun): string {
  const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens, costUsd } = run;
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
      ...limitedResult(run.result),
      usage: {
        inputTokens,
        cachedInputTokens,
        outputTokens,
        reasoningTokens,
        totalTokens: inputTokens + outputTokens,
        costUsd,
      },
    },
  });
}

function limitedResult(result: string | null): { result: string | null; resultTruncated: boolean } {
  if (result === null || Buffer.byteLength(result) <= MAX_RESULT_BYTES) {
    return { result, resultTruncated: false };
  }
  return { result: utf8Start(Buffer.from(result), MAX_RESULT_BYTES), resultTruncated: true };
}
