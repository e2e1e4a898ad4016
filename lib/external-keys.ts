import { isDeepStrictEqual } from 'node:util';
import { empty, sql, type Sql } from './database/index.ts';
import { AppError } from './errors.ts';

/** Managers that a routine or a skill can have in place of people. */
export const MANAGERS = ['files'] as const;

/** The name that programs give to a resource, unique in its project, and the resource's manager. Neither is content. */
export interface ExternalName {
  readonly externalKey: string | null;
  readonly managedBy: (typeof MANAGERS)[number] | null;
  /** Name of the folder of files, if it has one. Several folders may manage resources of one project. */
  readonly managedFrom: string | null;
}

/**
 * Decides how a change affects the mark of drift. A put of the whole resource by its manager removes the mark. A
 * partial change of a managed resource is drift, even if the change names the manager. A change of only the manager or
 * the key removes the mark too.
 */
export function driftOf(
  before: object,
  after: ExternalName,
  { managedBy, isPut }: { readonly managedBy: ExternalName['managedBy'] | undefined; readonly isPut: boolean },
): 'begins' | 'ends' | 'stays' {
  if (isPut) return 'ends';
  const was = new Map<string, unknown>(Object.entries(before));
  const isOther = Object.entries(after).some(
    ([name, value]) => !(managedBy !== undefined && NAMES.has(name)) && !isDeepStrictEqual(value, was.get(name)),
  );
  if (after.managedBy !== null && isOther) return 'begins';
  return managedBy === undefined ? 'stays' : 'ends';
}

const NAMES: ReadonlySet<string> = new Set([
  'externalKey',
  'managedBy',
  'managedFrom',
] satisfies (keyof ExternalName)[]);

/** Returns the assignments of an `update` for the name and the mark of drift, with a comma at the end. */
export function nameColumns(name: ExternalName, drift: ReturnType<typeof driftOf>, by: string | null): Sql {
  const { externalKey, managedBy, managedFrom } = name;
  const mark = {
    begins: sql`drifted_at = now(), drifted_by = ${by},`,
    ends: sql`drifted_at = null, drifted_by = null,`,
    stays: empty,
  };
  return sql`external_key = ${externalKey}, managed_by = ${managedBy},
    managed_from = ${managedBy === null ? null : managedFrom}, ${mark[drift]}`;
}

/** Tells whether the condition of a change is met by this version; undefined if the resource does not exist. */
export type IsExpected = (version: number | undefined) => boolean;

/**
 * Creates or changes the resource with a key. Looks for the resource again after a concurrent request, so that one
 * request creates the resource and the other changes it.
 * @throws {AppError} `precondition_failed`, and the errors of `create` and `change`
 */
export async function putByKey<Found extends { readonly version: number }, Saved>(put: {
  readonly find: () => Promise<Found | undefined>;
  readonly isExpected: IsExpected;
  readonly create: () => Promise<Saved>;
  /** Changes the found resource. Throws `precondition_failed` when its version has changed. */
  readonly change: (found: Found) => Promise<Saved>;
}): Promise<Saved> {
  const found = await put.find();
  if (!put.isExpected(found?.version)) throw new AppError('precondition_failed');
  try {
    return await (found === undefined ? put.create() : put.change(found));
  } catch (error) {
    if (!(error instanceof AppError) || !OVERTAKEN.has(error.code)) throw error;
    return putByKey(put);
  }
}

/** Errors of a resource that another request has created, changed or ended. */
const OVERTAKEN: ReadonlySet<string> = new Set([
  'external_key_taken',
  'precondition_failed',
  'routine_archived',
  'skill_not_found',
]);

/** Waits for a statement that writes a key. @throws {AppError} `external_key_taken` if another resource has the key */
export async function freeKey<T>(written: Promise<T>): Promise<T> {
  return written.catch((error: unknown) => {
    const isTaken = error instanceof Error && 'constraint' in error && KEYS.test(String(error.constraint));
    throw isTaken ? new AppError('external_key_taken') : error;
  });
}

/** Names the unique indexes of the keys. */
const KEYS = /^(?:routines|skills)_external_key_idx$/;
