import type { KindName } from './keys.ts';
import type { Content } from './kinds.ts';
import type { Drift } from './remote.ts';

export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The difference between the files and the service for one routine or skill. */
export interface Change {
  readonly kind: KindName;
  readonly key: string;
  /**
   * `adopt`: the content is equal, and this folder becomes the manager. `orphan`: this folder manages the resource, but
   * has no file for it.
   */
  readonly action: 'create' | 'update' | 'adopt' | 'unchanged' | 'orphan';
  readonly file: string | null;
  readonly id: string | null;
  /** The key before a move; null without a move. */
  readonly movedFrom: string | null;
  /** The version at the time of the plan; null for a new resource. */
  readonly etag: string | null;
  /** An active or paused routine becomes a draft, and needs a new proof. */
  readonly returnsToDraft: boolean;
  readonly state: string | null;
  /** True when the routine is active and its scheduled runs use outdated texts of its skills. */
  readonly isBehind: boolean;
  /** The last change outside the files since the last apply; the next `apply` overwrites it. */
  readonly drift: Drift | null;
  /** Names of routines and files that still use a skill without a file. */
  readonly namedBy: readonly string[];
  readonly fields: readonly FieldChange[];
  /** Contents of the file and of the service. */
  readonly desired: Content | null;
  readonly found: Content | null;
}

export interface Plan {
  readonly version: 1;
  /** Id of the project that was compared with the files. */
  readonly project: string;
  /** Name of the folder that manages the routines and skills. */
  readonly owner: string | null;
  readonly changes: readonly Change[];
}

/** Tells whether a plan changes nothing. */
export function isEmpty({ changes }: Plan): boolean {
  return changes.every(({ action }) => action === 'unchanged');
}
