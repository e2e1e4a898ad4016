import { isAccountPath } from './project.ts';

/** Scope of what belongs to a person and to no project. */
export const ACCOUNT = 'account';

/** Returns the cache key of a read, so that two projects never share a response. */
export function keyOf(
  projectId: string | undefined,
  path: string,
  input: object,
): readonly unknown[] {
  return [isAccountPath(path) ? ACCOUNT : (projectId ?? ACCOUNT), path, input];
}
