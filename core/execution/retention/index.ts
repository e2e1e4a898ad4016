export { applyRetention, type RetentionDeps, type RetentionReport } from './apply-retention.ts';
export { retentionBacklog } from './due.ts';
export { MAX_PINNED, pinRun, unpinRuns } from './pin.ts';
