import type { ModelReference } from '#core/models/index.ts';

export const ROUTINE_STATES = ['draft', 'active', 'paused', 'archived'] as const;
export type RoutineState = (typeof ROUTINE_STATES)[number];

/** What happens to an occurrence that falls due while an earlier run of the routine is still open. */
export const OVERLAP_POLICIES = ['skip', 'allow'] as const;
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

/** What happens to occurrences that nobody claimed in time. */
export const MISFIRE_POLICIES = ['run_once', 'skip'] as const;
export type MisfirePolicy = (typeof MISFIRE_POLICIES)[number];

export interface Limits {
  /** Model steps of one run. */
  readonly maxSteps: number;
  readonly timeoutSeconds: number;
  /** Input and output tokens of one run, checked between steps. */
  readonly maxTotalTokens: number | null;
}

/** Checked before a run starts. */
export interface Budget {
  /** Input and output tokens a calendar day, UTC. */
  readonly maxTokensPerDay: number | null;
  /** US dollars a calendar month, UTC, as a decimal string. */
  readonly maxCostUsdPerMonth: string | null;
}

/** What a caller may set. */
export interface RoutineFields {
  readonly name: string;
  readonly instructions: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly schedule: string;
  readonly timezone: string;
  readonly model: ModelReference;
  readonly skills: readonly string[];
  readonly overlap: OverlapPolicy;
  readonly misfire: MisfirePolicy;
  readonly limits: Limits;
  readonly budget: Budget;
  readonly pauseAfterFailures: number;
  readonly webhookUrl: string | null;
}

export interface Routine extends RoutineFields {
  readonly id: string;
  readonly projectId: string;
  readonly state: RoutineState;
  /** Why the service itself changed the state last, or null when a person did. */
  readonly stateReason: string | null;
  /** Counts material changes; a proof run holds for one revision. */
  readonly revision: number;
  /** Counts every change; the `ETag`. */
  readonly version: number;
  readonly webhookFailedAt: Date | null;
  readonly nextRunAt: Date | null;
  readonly lastRunAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly archivedAt: Date | null;
}
