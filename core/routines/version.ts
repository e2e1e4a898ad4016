import type { VersionTool } from '#core/tools/index.ts';
import type { Definition } from './definition.ts';
import type { VersionField } from './stored-definition.ts';

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
export interface Version extends VersionSummary, Definition {
  readonly routineId: string;
  /** The tools that were automatic; a record only, as a restoration keeps the confirmations of today. */
  readonly tools: readonly VersionTool[];
  /** Says which field this release cannot read; else null. */
  readonly blocked: string | null;
}

/** The author of a version, and the version from which it was made. */
export interface VersionOrigin {
  /** Id of the person, or of the API key; null for the service itself. */
  readonly actor: string | null;
  readonly restoredFrom?: number | undefined;
}
