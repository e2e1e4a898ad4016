import type { ReportedRun } from '#core/delivery/webhooks/event.ts';

/** Makes a scheduled run that succeeded, with the given fields over it. */
export function endedRun(fields: Partial<ReportedRun> = {}): ReportedRun {
  return {
    id: 'run_1',
    routineId: 'rtn_1',
    projectId: 'prj_1',
    trigger: 'schedule',
    state: 'succeeded',
    reason: null,
    errorMessage: null,
    scheduledFor: new Date('2026-03-01T09:00:00.000Z'),
    createdAt: new Date('2026-03-01T09:00:00.250Z'),
    startedAt: new Date('2026-03-01T09:00:00.500Z'),
    finishedAt: new Date('2026-03-01T09:00:07.000Z'),
    result: 'All is well — ça va 👍',
    outcome: 'done',
    outcomeSummary: null,
    statedUrgency: null,
    checks: [],
    warnings: [],
    data: null,
    changes: null,
    deliver: 'always',
    inputTokens: 1_200,
    cachedInputTokens: 1_000,
    outputTokens: 300,
    reasoningTokens: 120,
    costUsd: '0.00123',
    estimatedUsage: false,
    ...fields,
  };
}
