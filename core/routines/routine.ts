import type { MailSettings } from '#core/identity/index.ts';
import type { ModelReference } from '#core/models/index.ts';
import type { BuiltInToolName } from '#core/tools/index.ts';
import type { ResultKey } from './result-section.ts';
import type { Budget } from '#core/usage/index.ts';
import type { OutcomeRule, ResultCheck } from './result-checks.ts';
import type { Gate } from './gate.ts';
import type { JsonObject } from '#lib/json.ts';

export const ROUTINE_STATES = ['draft', 'active', 'paused', 'archived'] as const;
export type RoutineState = (typeof ROUTINE_STATES)[number];

/** Lists the choices for an occurrence that falls due while an earlier run of the routine is still open. */
export const OVERLAP_POLICIES = ['skip', 'queue', 'cancel_previous', 'allow'] as const;
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

/** Lists the choices for occurrences that no tick claimed in time. */
export const MISFIRE_POLICIES = ['run_once', 'skip'] as const;
export type MisfirePolicy = (typeof MISFIRE_POLICIES)[number];

/** Lists the choices of which runs the webhook is told. */
export const DELIVER_POLICIES = ['always', 'changed', 'failed'] as const;
export type DeliverPolicy = (typeof DELIVER_POLICIES)[number];

export interface Limits {
  /** Limits the model steps of one run. */
  readonly maxSteps: number;
  readonly timeoutSeconds: number;
  /** Limits the input and output tokens of one run. */
  readonly maxTotalTokens: number | null;
  /** Limits the output tokens of one step; null leaves them to the provider. */
  readonly maxOutputTokens: number | null;
  /** Seconds that a run may wait for its first step before it is skipped. */
  readonly maxQueueSeconds: number;
  /** Ends a run that uses more than this many times the median of its version's runs; null for never. */
  readonly abnormalFactor: number | null;
}

/** Recipients of mails about the routine's runs. */
export interface Notifications {
  /** Null follows the project. */
  readonly mail: MailSettings | null;
  /** Gets a GET after each run that succeeded. */
  readonly successPingUrl: string | null;
}

/** The fields that a caller may set. */
export interface RoutineFields {
  readonly name: string;
  readonly instructions: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Names of the variables that may be given for one run; null for all. */
  readonly overridable: readonly string[] | null;
  readonly schedule: string;
  readonly timezone: string;
  readonly model: ModelReference;
  readonly skills: readonly string[];
  /** True when a run is told the result of the last one that succeeded. */
  readonly carryResult: boolean;
  readonly builtInTools: readonly BuiltInToolName[];
  /** `required` where a run has to state its outcome. */
  readonly outcome: OutcomeRule;
  /** Conditions that code checks when a run would succeed. */
  readonly checks: readonly ResultCheck[];
  /** The window of its schedule: occurrences from `startsAt` to `endsAt`, both inside; null for no such end. */
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
  /** Dates in its time zone, `2026-12-24`, on which it has no occurrence; ascending. */
  readonly skipDates: readonly string[];
  /** The most that it may start later than its schedule says; its id decides how much. */
  readonly jitterSeconds: number;
  readonly gate: Gate | null;
  /** The JSON Schema of the data that a run has to end with; null where any text will do. */
  readonly resultSchema: JsonObject | null;
  /** Key of the items of a list in that data; null where the data is compared as a whole. */
  readonly resultKey: ResultKey | null;
  readonly overlap: OverlapPolicy;
  readonly misfire: MisfirePolicy;
  readonly limits: Limits;
  readonly budget: Budget;
  readonly pauseAfterFailures: number;
  readonly webhookUrl: string | null;
  readonly notifications: Notifications;
  readonly deliver: DeliverPolicy;
}

export interface Routine extends RoutineFields {
  readonly id: string;
  readonly projectId: string;
  readonly state: RoutineState;
  /** The reason why the service itself last changed the state; null when a person did. */
  readonly stateReason: string | null;
  /** Counts material changes; a proof run holds for one revision. */
  readonly revision: number;
  /** Counts every change; serves as the `ETag`. */
  readonly version: number;
  readonly webhookFailedAt: Date | null;
  readonly nextRunAt: Date | null;
  readonly lastRunAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly archivedAt: Date | null;
}

/** A routine as lists show it: without its long texts. */
export type RoutineSummary = Omit<Routine, 'instructions' | 'variables' | 'gate' | 'resultSchema'>;
