export { AUDIT_ACTIONS } from './actions.ts';
export { SYSTEM, type Actor } from './actor.ts';
export { forgetAuditEvents, listAuditEvents, type AuditEvent } from './list.ts';
export { recordAudit, recordProjectAudit } from './record.ts';
