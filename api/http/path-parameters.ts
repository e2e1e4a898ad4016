import type { ErrorCode } from '#lib/errors.ts';

/** The error of each path parameter, for one that names nothing. */
const NOT_FOUND: Readonly<Record<string, ErrorCode>> = {
  apiKeyId: 'api_key_not_found',
  attemptId: 'attempt_not_found',
  connectionId: 'connection_not_found',
  deliveryId: 'delivery_not_found',
  invitationId: 'invitation_not_found',
  organizationId: 'organization_not_found',
  policyId: 'policy_not_found',
  projectId: 'project_not_found',
  provider: 'provider_not_found',
  revision: 'version_not_found',
  routineId: 'routine_not_found',
  runId: 'run_not_found',
  sessionId: 'session_not_found',
  skillId: 'skill_not_found',
  userId: 'member_not_found',
};

/** Returns the error of each parameter of a path in router form. A malformed id cannot exist, so it is not found. */
export function notFoundOf(path: string): ReadonlyMap<string, ErrorCode> {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return new Map(names.map((name) => [name, notFoundByName(name)]));
}

function notFoundByName(name: string): ErrorCode {
  const code = NOT_FOUND[name];
  if (code === undefined) throw new TypeError(`the path parameter ${name} names no known resource`);
  return code;
}
