export { applyRetention, type RetentionDeps, type RetentionReport } from './apply-retention.ts';
export { retentionBacklog } from './due.ts';
