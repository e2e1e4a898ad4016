export { AuditTab as default } from './audit-tab.tsx';
