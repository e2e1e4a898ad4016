export { AUDIT_ACTIONS, type AuditAction } from './actions.ts';
export {
  authorJson,
  recordAudit,
  recordProjectAudit,
  SYSTEM,
  type Actor,
  type AuditDetails,
  type Author,
} from './record.ts';
export { forgetAuditEvents, listAuditEvents } from './list.ts';
