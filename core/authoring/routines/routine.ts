import type { Budget, MailSettings } from '#core/accounts/settings/index.ts';
import type { Definition, ShortDefinition } from '#core/authoring/definition/index.ts';
import type { TimingFields } from '#core/foundation/timetable/index.ts';
import type { ExternalName } from '#lib/external-keys.ts';

export const ROUTINE_STATES = ['draft', 'active', 'paused', 'archived'] as const;
export type RoutineState = (typeof ROUTINE_STATES)[number];

/** Lists the choices of a routine's policies. */
export const POLICIES = {
  /** What happens to an occurrence that falls due while an earlier run of the routine is open. */
  overlap: ['skip', 'queue', 'cancel_previous', 'allow'],
  /** What happens to occurrences that no tick claimed in time. */
  misfire: ['run_once', 'skip'],
  /** Which runs the webhook is told of. */
  deliver: ['always', 'changed', 'failed'],
} as const;

/** Recipients of mails about the routine's runs. */
export interface Notifications {
  /** Null for the project's settings. */
  readonly mail: MailSettings | null;
  /** Called with a GET after each run that succeeded. */
  readonly successPingUrl: string | null;
}

/** The fields beside the definition: when a routine runs, what it may spend, and who is told. */
export interface RoutineSettings extends TimingFields {
  readonly name: string;
  readonly overlap: (typeof POLICIES.overlap)[number];
  readonly misfire: (typeof POLICIES.misfire)[number];
  readonly budget: Budget;
  readonly pauseAfterFailures: number;
  readonly webhookUrl: string | null;
  readonly notifications: Notifications;
  readonly deliver: (typeof POLICIES.deliver)[number];
}

/** The fields that a caller may set. */
export interface RoutineFields extends Definition, RoutineSettings, ExternalName {}

export interface Routine extends RoutineFields {
  readonly id: string;
  readonly projectId: string;
  readonly state: RoutineState;
  /** Why the service itself changed the state last; null when a person did. */
  readonly stateReason: string | null;
  /**
   * The field of its definition that this release cannot read, so that its runs fail and it cannot be changed; else
   * null.
   */
  readonly blocked: string | null;
  /** Counts material changes. A proof run holds for one revision. */
  readonly revision: number;
  /** Counts all changes. It is the `ETag`. */
  readonly version: number;
  /** When something other than its files changed it, since the files last put it; else null. */
  readonly driftedAt: Date | null;
  readonly webhookFailedAt: Date | null;
  readonly nextRunAt: Date | null;
  /** The instant before which its occurrences are skipped, as a run has said; else null. */
  readonly notBefore: Date | null;
  readonly lastRunAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly archivedAt: Date | null;
}

/** A routine as lists show it: without its long texts. */
export type RoutineSummary = Omit<Routine, keyof Definition> & ShortDefinition;
