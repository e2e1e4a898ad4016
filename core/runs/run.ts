import type { Wait } from './admission/waiting-for.ts';
import type { GateVerdict } from '#core/gate/index.ts';
import type { Usage } from '#core/usage/index.ts';
import type { ComparedResult, RunOutcome } from '#core/outcomes/index.ts';
import type { RunState, StepKind, StepState, StepWarning, Trigger, Withheld } from './states.ts';
import type { ToolRecord } from '#core/tools/index.ts';
import type { RunMessage } from '#core/outbox/index.ts';
import type { Delivery } from '#core/webhooks/index.ts';

export interface RunUsage extends Usage {
  /** US dollars as a decimal string; null while no priced step is on record. */
  readonly costUsd: string | null;
}

export interface Run extends RunOutcome {
  readonly id: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly routineRevision: number;
  readonly trigger: Trigger;
  readonly state: RunState;
  readonly reason: string | null;
  readonly errorMessage: string | null;
  /** Instant of the schedule for which it was made, past or present; a repeated run has that of the run it repeats. */
  readonly scheduledFor: Date | null;
  /** Requested time, before which it does not start. */
  readonly runAt: Date | null;
  /** Id of the backfill to which it belongs. */
  readonly backfillId: string | null;
  /** Number of occurrences that a `skipped` row accounts for, and the last of them. */
  readonly skippedCount: number | null;
  readonly skippedUntil: Date | null;
  readonly variables: Readonly<Record<string, string>>;
  readonly retryOf: string | null;
  readonly model: {
    readonly provider: string;
    readonly connectionId: string | null;
    readonly modelId: string;
  } | null;
  readonly result: string | null;
  /** Data of the result in the form of the version's `resultSchema`; null where it has none. */
  readonly data: unknown;
  /** Null unless it has data. */
  readonly changes: ComparedResult | null;
  /** The reason why no webhook was told of its end; null where one was, or where nothing is withheld. */
  readonly withheld: Withheld | null;
  readonly stepCount: number;
  readonly usage: RunUsage;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly cancelRequestedAt: Date | null;
  /** True when its owner keeps it beyond the retention of its project. */
  readonly pinned: boolean;
  /** The time since which its texts are null and its variables empty. */
  readonly contentErasedAt: Date | null;
}

/** A run as lists show it: without its long texts. */
export interface RunSummary extends Omit<Run, 'result' | 'variables' | 'data' | 'changes'> {
  readonly routineName: string;
  readonly changes: Pick<ComparedResult, 'against' | 'unchangedRuns' | 'counts'> | null;
  /** The beginning of the result. */
  readonly resultPreview: string | null;
}

export interface Step {
  readonly index: number;
  readonly kind: StepKind;
  readonly state: StepState;
  /** Number of the attempt. Above 1, the provider may have billed an earlier attempt that was never recorded. */
  readonly attempt: number;
  readonly modelId: string | null;
  readonly text: string | null;
  readonly finishReason: string | null;
  readonly errorMessage: string | null;
  /** Null on a model step. */
  readonly tool: ToolRecord | null;
  readonly warnings: readonly StepWarning[];
  readonly usage: RunUsage;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

export interface RunDetail extends Run {
  readonly routineName: string;
  readonly prompt: string | null;
  readonly briefing: string | null;
  /** Null for a run that asked no gate. */
  readonly gate: GateVerdict | null;
  /** Time that it has waited, or had waited when it began or ended; null for an occurrence passed over. */
  readonly queuedSeconds: number | null;
  /** Null unless it is queued, or waits for a budget. */
  readonly waitingFor: Wait | null;
  readonly steps: readonly Step[];
  /** Index of the first step whose texts are left out; null where none is. */
  readonly textsLeftOutFrom: number | null;
  readonly deliveries: readonly Delivery[];
  /** Mails and pings about it. */
  readonly messages: readonly RunMessage[];
}
