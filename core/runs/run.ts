import type { Usage } from './usage.ts';
import type { RunState, Trigger } from './states.ts';
import type { ToolRecord } from './tool-record.ts';
import type { Delivery } from '#core/webhooks/index.ts';

export interface RunUsage extends Usage {
  /** US dollars as a decimal string; null while no priced step is on record. */
  readonly costUsd: string | null;
}

export interface Run {
  readonly id: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly routineRevision: number;
  readonly trigger: Trigger;
  readonly state: RunState;
  readonly reason: string | null;
  readonly errorMessage: string | null;
  readonly scheduledFor: Date | null;
  /** Of a `skipped` row: how many occurrences it stands for, and the last of them. */
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
  readonly stepCount: number;
  readonly usage: RunUsage;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly cancelRequestedAt: Date | null;
}

export interface Step {
  readonly index: number;
  readonly kind: 'model' | 'tool';
  readonly state: 'pending' | 'started' | 'succeeded' | 'failed' | 'outcome_unknown';
  /** Beyond 1, an earlier attempt may have been billed by the provider and never recorded. */
  readonly attempt: number;
  readonly modelId: string | null;
  readonly text: string | null;
  readonly finishReason: string | null;
  readonly errorMessage: string | null;
  /** Of a tool step. */
  readonly tool: ToolRecord | null;
  readonly usage: RunUsage;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

export interface RunDetail extends Run {
  readonly prompt: string | null;
  readonly steps: readonly Step[];
  readonly deliveries: readonly Delivery[];
}
