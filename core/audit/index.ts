export { AUDIT_ACTIONS, type AuditAction } from './actions.ts';
export {
  recordAudit,
  recordProjectAudit,
  SYSTEM,
  type Actor,
  type AuditDetails,
} from './record.ts';
export { forgetAuditEvents, listAuditEvents } from './list.ts';
