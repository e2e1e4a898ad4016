import type { KindName } from './keys.ts';
import type { Content } from './kinds.ts';
import type { Drift } from './remote.ts';

export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What stands between the files and the service for one routine or skill. */
export interface Change {
  readonly kind: KindName;
  readonly key: string;
  /** `adopt`: it is as the file says, and is to be marked as kept by this folder. `orphan`: kept by it, and has no file. */
  readonly action: 'create' | 'update' | 'adopt' | 'unchanged' | 'orphan';
  readonly file: string | null;
  readonly id: string | null;
  /** The key that it has until it is moved. */
  readonly movedFrom: string | null;
  /** The version that the plan has seen; null for one that is not there. */
  readonly etag: string | null;
  /** An active or paused routine becomes a draft, and needs a new proof. */
  readonly returnsToDraft: boolean;
  readonly state: string | null;
  /** It is active, and its scheduled runs take older texts of its skills than there are. */
  readonly isBehind: boolean;
  /** The last change beside the files since they were applied, which `apply` overwrites. */
  readonly drift: Drift | null;
  /** Of a skill without a file: what names it still. */
  readonly namedBy: readonly string[];
  readonly fields: readonly FieldChange[];
  /** What the file says, and what the service has. */
  readonly desired: Content | null;
  readonly found: Content | null;
}

export interface Plan {
  readonly version: 1;
  readonly project: string | null;
  /** The name of the folder, which owns what it keeps. */
  readonly owner: string | null;
  readonly changes: readonly Change[];
}

/** Tells whether there is anything to do. */
export function isEmpty({ changes }: Plan): boolean {
  return changes.every(({ action }) => action === 'unchanged');
}
