import type { Author } from '#core/foundation/audit/index.ts';
import type { Definition, RoutineSettings, ShortDefinition } from '#core/authoring/definition/index.ts';
import type { ExternalName } from '#lib/external-keys.ts';

export const ROUTINE_STATES = ['draft', 'active', 'paused', 'archived'] as const;
export type RoutineState = (typeof ROUTINE_STATES)[number];

/** The fields that a caller may set. */
export interface RoutineFields extends Definition, RoutineSettings, ExternalName {}

export interface Routine extends RoutineFields {
  readonly id: string;
  readonly projectId: string;
  readonly state: RoutineState;
  /** The reason why the service changed the state last; null when a person changed the state last. */
  readonly stateReason: string | null;
  /**
   * Field of the definition that this release cannot read; null if it can read all fields. With such a field the
   * routine's runs fail, and the routine cannot be changed.
   */
  readonly blocked: string | null;
  /** Revision number: counts material changes. A proof run proves one revision. */
  readonly revision: number;
  /** Version number: counts all changes, and serves as the `ETag`. */
  readonly version: number;
  /**
   * Time of a change that was made outside the routine's files after they were last applied; null without such a
   * change.
   */
  readonly driftedAt: Date | null;
  /** The author of the last change outside the files. */
  readonly driftedBy: Author | null;
  readonly webhookFailedAt: Date | null;
  readonly nextRunAt: Date | null;
  /** A run asked to skip the occurrences before this instant; null if no run did. */
  readonly notBefore: Date | null;
  readonly lastRunAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly archivedAt: Date | null;
}

/** A routine in lists, without its long texts. */
export type RoutineSummary = Omit<Routine, keyof Definition> & ShortDefinition;
