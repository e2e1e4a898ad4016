import type { Budget, MailSettings } from '#core/identity/index.ts';
import type { Definition, ShortDefinition } from '#core/definition/index.ts';

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

/** Recipients of mails about the routine's runs. */
export interface Notifications {
  /** Null follows the project. */
  readonly mail: MailSettings | null;
  /** Gets a GET after each run that succeeded. */
  readonly successPingUrl: string | null;
}

/** The fields that a caller sets beside the definition: when a routine runs, what it may spend, and who is told. */
export interface RoutineSettings {
  readonly name: string;
  readonly schedule: string;
  readonly timezone: string;
  /** The window of its schedule: occurrences from `startsAt` to `endsAt`, both inside; null for no such end. */
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
  /** Dates in its time zone, `2026-12-24`, on which it has no occurrence; ascending. */
  readonly skipDates: readonly string[];
  /** The most that it may start later than its schedule says; its id decides how much. */
  readonly jitterSeconds: number;
  readonly overlap: OverlapPolicy;
  readonly misfire: MisfirePolicy;
  readonly budget: Budget;
  readonly pauseAfterFailures: number;
  readonly webhookUrl: string | null;
  readonly notifications: Notifications;
  readonly deliver: DeliverPolicy;
}

/** The fields that a caller may set. */
export interface RoutineFields extends Definition, RoutineSettings {}

export interface Routine extends RoutineFields {
  readonly id: string;
  readonly projectId: string;
  readonly state: RoutineState;
  /** The reason why the service itself last changed the state; null when a person did. */
  readonly stateReason: string | null;
  /** Says which field of its definition this release cannot read: its runs fail, and it cannot be changed; else null. */
  readonly blocked: string | null;
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
export type RoutineSummary = Omit<Routine, keyof Definition> & ShortDefinition;
