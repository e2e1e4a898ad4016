/** Every change that leaves an audit event. */
export const AUDIT_ACTIONS = [
  'organization.created',
  'organization.renamed',
  'organization.deleted',
  'project.created',
  'project.renamed',
  'project.deleted',
  'member.joined',
  'member.role_changed',
  'member.removed',
  'member.left',
  'invitation.created',
  'invitation.deleted',
  'api_key.created',
  'api_key.revoked',
  'connection.created',
  'connection.changed',
  'connection.deleted',
  'policy.changed',
  'budget.changed',
  'notifications.changed',
  'plan.changed',
  'routine.activated',
  'routine.paused',
  'routine.backfilled',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];
