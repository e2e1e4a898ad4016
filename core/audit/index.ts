export { AUDIT_ACTIONS, type AuditAction } from './actions.ts';
export { SYSTEM, type Actor } from './actor.ts';
export { forgetAuditEvents, listAuditEvents, type AuditEvent } from './list.ts';
export { recordAudit, recordProjectAudit, type AuditDetails } from './record.ts';
