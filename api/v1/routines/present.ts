import type { z } from 'zod';
import {
  shownNextRun,
  type Limits,
  type Routine,
  type RoutineDetail,
  type RoutineSummary,
  type RoutineWarning,
  type SavedRoutine,
} from '#core/routines/index.ts';
import { iso, isoOrNull } from '../../http/schemas.ts';
import { presentCheck } from './checks.ts';
import { presentGate } from './gate-schema.ts';
import { presentMail, type mailDelivery } from '../settings-schemas.ts';
import { nextRunsOf } from './next-runs.ts';

export function presentRoutine(row: Routine) {
  return {
    ...presentRoutineSummary(row),
    instructions: row.instructions,
    variables: { ...row.variables },
    gate: presentGate(row.gate),
    resultSchema: row.resultSchema,
  };
}

export function presentRoutineSummary(row: RoutineSummary) {
  return {
    id: row.id,
    name: row.name,
    schedule: row.schedule,
    timezone: row.timezone,
    model: presentModel(row.model),
    overridable: row.overridable === null ? null : [...row.overridable],
    skills: [...row.skills],
    carryResult: row.carryResult,
    builtInTools: [...row.builtInTools],
    outcome: row.outcome,
    checks: row.checks.map(presentCheck),
    startsAt: isoOrNull(row.startsAt),
    endsAt: isoOrNull(row.endsAt),
    skipDates: [...row.skipDates],
    jitterSeconds: row.jitterSeconds,
    resultKey: presentKey(row.resultKey),
    overlap: row.overlap,
    misfire: row.misfire,
    limits: presentLimits(row.limits),
    budget: {
      maxTokensPerDay: row.budget.maxTokensPerDay,
      maxCostUsdPerMonth: row.budget.maxCostUsdPerMonth,
    },
    pauseAfterFailures: row.pauseAfterFailures,
    webhookUrl: row.webhookUrl,
    notifications: {
      mail: presentMail(row.notifications.mail),
      successPingUrl: row.notifications.successPingUrl,
    },
    deliver: row.deliver,
    webhookFailedAt: isoOrNull(row.webhookFailedAt),
    state: row.state,
    stateReason: row.stateReason,
    revision: row.revision,
    nextRunAt: isoOrNull(shownNextRun(row)),
    lastRunAt: isoOrNull(row.lastRunAt),
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
    archivedAt: isoOrNull(row.archivedAt),
  };
}

export function presentKey(key: Routine['resultKey']) {
  return key === null ? null : { list: key.list, key: key.key };
}

export function presentModel(model: Routine['model']) {
  return {
    provider: model.provider,
    connectionId: model.connectionId,
    modelId: model.modelId,
  };
}

export function presentLimits(limits: Limits) {
  return {
    maxSteps: limits.maxSteps,
    timeoutSeconds: limits.timeoutSeconds,
    maxTotalTokens: limits.maxTotalTokens,
    maxOutputTokens: limits.maxOutputTokens,
    maxQueueSeconds: limits.maxQueueSeconds,
    abnormalFactor: limits.abnormalFactor,
  };
}

export function presentSaved(saved: SavedRoutine) {
  const { webhookSecret } = saved;
  return {
    ...presentRoutine(saved.routine),
    warnings: presentWarnings(saved.warnings),
    ...(webhookSecret === undefined ? {} : { webhookSecret }),
  };
}

export function presentDetail(row: RoutineDetail, delivery: z.output<typeof mailDelivery>) {
  const { ready, proofRunId, reason } = row.activation;
  return {
    ...presentRoutine(row),
    nextRuns: [...nextRunsOf(row)],
    activation: { ready, proofRunId, reason },
    mailDelivery: delivery,
    callableTools: row.callableTools.map(({ name, connectionId, policyId }) => ({
      name,
      connectionId,
      policyId,
    })),
    warnings: presentWarnings(row.warnings),
    skillsBehind: row.skillsBehind.map(({ skill, name, activated, proven, newest }) => ({
      skill,
      name,
      activated,
      proven,
      newest,
    })),
  };
}

export function presentWarnings(warnings: readonly RoutineWarning[]) {
  return warnings.map(({ code, skill, need, message }) => ({
    code,
    ...(skill === undefined ? {} : { skill }),
    ...(need === undefined ? {} : { need }),
    message,
  }));
}

/** Returns the entity tag of a routine's version (RFC 9110, section 8.8.3). */
export function etagOf(row: Routine): { ETag: string } {
  return { ETag: `"${row.version}"` };
}
