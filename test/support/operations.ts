import type { RouteSpec } from '#api/route.ts';
import { newId, type Resource } from '#lib/ids.ts';

const RESOURCE_OF: Readonly<Record<string, Resource>> = {
  apiKeyId: 'apiKey',
  routineId: 'routine',
  runId: 'run',
  skillId: 'skill',
  deliveryId: 'delivery',
  connectionId: 'connection',
  policyId: 'policy',
  attemptId: 'attempt',
  invitationId: 'invitation',
  organizationId: 'organization',
  projectId: 'project',
};

/** Returns a path of the operation with well-formed ids that belong to no resource, and with revision 1. */
export function pathFor(spec: Pick<RouteSpec, 'path'>): string {
  return spec.path.replaceAll(/:(\w+)/g, (_whole, name: string) => {
    if (name === 'revision') return '1';
    const resource = RESOURCE_OF[name];
    return resource === undefined ? 'unknown' : newId(resource);
  });
}
