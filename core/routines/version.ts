import type { VersionTool } from '#core/tools/index.ts';
import type { RoutineFields } from './routine.ts';

/**
 * Lists the material fields: what its runs are told, and what they may do. Changing one makes a new revision, which no
 * manual run has proven yet, so the routine returns to draft. A change of its tool policies is material too; it arrives
 * through `returnToDraft`. Name, schedule, time zone, window, skipped dates, jitter, overlap, misfire, budget,
 * `pauseAfterFailures`, webhook URL and `deliver` are not material.
 */
export const MATERIAL_FIELDS = [
  'instructions',
  'variables',
  'overridable',
  'model',
  'skills',
  'limits',
  'carryResult',
  'builtInTools',
  'outcome',
  'checks',
  'gate',
  'resultSchema',
  'resultKey',
] as const satisfies readonly (keyof RoutineFields)[];

/** Lists everything that is material for a routine, by the names that a comparison of two versions uses. */
export const VERSION_FIELDS = [...MATERIAL_FIELDS, 'tools'] as const;
export type VersionField = (typeof VERSION_FIELDS)[number];

export interface VersionSummary {
  readonly revision: number;
  readonly createdAt: Date;
  /** Null when the service made the change. */
  readonly createdBy: VersionAuthor | null;
  /** The revision whose text this one took over again. */
  readonly restoredFrom: number | null;
  /** Fields that differ from the version before; empty for the first one. */
  readonly changed: readonly VersionField[];
}

/** The person or the API key that made a version, by the name that they have now. */
export interface VersionAuthor {
  readonly kind: 'person' | 'key';
  readonly id: string;
  /** Null for an account or key that is gone. */
  readonly name: string | null;
}

/** One revision of a routine, as its runs carry it out. */
export interface Version extends VersionSummary, MaterialFields {
  readonly routineId: string;
  /** The tools that were automatic; a record only, as a restoration keeps the confirmations of today. */
  readonly tools: readonly VersionTool[];
}

export type MaterialFields = Pick<RoutineFields, (typeof MATERIAL_FIELDS)[number]>;

/** The author of a version, and the version from which it was made. */
export interface VersionOrigin {
  /** Id of the person, or of the API key; null for the service itself. */
  readonly actor: string | null;
  readonly restoredFrom?: number | undefined;
}
