import { MAX_FACTS } from '#core/authoring/facts/index.ts';
import { assertRecipients } from '#core/accounts/settings/index.ts';
import type { ProjectModels } from '#core/models/directory/index.ts';
import { assertUsableSchema, schemaRefusal } from '#core/clients/json-schemas/index.ts';
import { chatsByName } from '#core/integrations/chats/index.ts';
import { judging } from '#core/integrations/tools/index.ts';
import { measureSkills, type SkillCatalogue } from '#core/authoring/skills/index.ts';
import type { Db } from '#lib/database/index.ts';
import { AppError, invalid, type Fault } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import {
  unknownPlaceholders,
  checkPatterns,
  checkTextLimits,
  MAX_CARRIED_LENGTH,
  type Gate,
} from '#core/authoring/definition/index.ts';
import { checkSchedule, checkTimeZone } from '#core/foundation/timetable/index.ts';
import type { RoutineFields } from './routine.ts';

export interface RoutineChecks {
  readonly models: ProjectModels;
  readonly skills: SkillCatalogue;
  readonly outbound: Pick<OutboundClient, 'urlFault'>;
}

/** Parts that a change leaves as they are. A fault in such a part does not block the change. */
interface Untouched {
  /** Skill references that were attached before. The skills may be deleted by now. */
  readonly attached?: readonly string[];
  /** Lengths of custom skills whose texts are not written yet, by reference; they replace the stored lengths. */
  readonly skillLengths?: ReadonlyMap<string, number>;
  /**
   * True when instructions, variables, skills or facts change. Otherwise their length is not checked, because a skill
   * may have grown since.
   */
  readonly textChanged?: boolean;
  readonly scheduleChanged?: boolean;
  /** True when the model changes. Otherwise faults of the model block nothing. */
  readonly modelChanged?: boolean;
}

/**
 * Checks one rule, and throws if it is broken. `found` has the errors of earlier checks if all errors are collected;
 * otherwise it is empty.
 */
export type SaveCheck = (found: readonly AppError[]) => unknown;

/** Throws the first refusal. @throws {AppError} */
export async function assertChecks(checks: readonly SaveCheck[]): Promise<void> {
  for (const check of checks) await check([]);
}

/** Collects all refusals. @throws {AppError} temporary errors, such as `models_unavailable` */
export async function refusalsOf(checks: readonly SaveCheck[]): Promise<AppError[]> {
  const found: AppError[] = [];
  for (const check of checks) {
    try {
      await check(found);
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 429) throw error;
      found.push(error);
    }
  }
  return found;
}

/**
 * Lists the checks that a schema of the request cannot make. A change is checked as the whole routine that results from
 * it. The checks throw `invalid_request`, `invalid_schedule`, `invalid_timezone`, `invalid_variable`,
 * `invalid_webhook_url`, `invalid_skill`, `invalid_model` and `models_unavailable`.
 */
export function routineChecks(
  db: Db,
  { models, skills, outbound }: RoutineChecks,
  projectId: string,
  fields: RoutineFields,
  {
    attached = [],
    skillLengths = new Map(),
    textChanged = true,
    scheduleChanged = true,
    modelChanged = true,
  }: Untouched = {},
): SaveCheck[] {
  return [
    () => checkTimeZone(fields.timezone),
    // Check only a changed schedule, because a schedule that was accepted under older rules must not block other
    // changes.
    () => scheduleChanged && checkSchedule(fields.schedule),
    () => {
      const unknown = unknownPlaceholders(fields.instructions, fields.variables, fields.gate !== null);
      if (unknown.length === 0) return;
      const message = `no value for ${unknown.map((name) => `{{${name.slice(0, 64)}}}`).join(', ')}`;
      throw invalid([{ path: 'instructions', message }], 'invalid_variable');
    },
    () => checkOverridable(fields),
    () => checkEnds(fields),
    () => checkForm(projectId, fields),
    () => {
      if (fields.deliver !== 'changed' || fields.resultSchema !== null) return;
      const message = 'needs a resultSchema: only data can be compared';
      throw invalid([{ path: 'deliver', message }]);
    },
    () => {
      const fault = fields.webhookUrl === null ? undefined : outbound.urlFault(fields.webhookUrl);
      if (fault !== undefined) throw invalid([{ path: 'webhookUrl', message: fault.message }], 'invalid_webhook_url');
    },
    () => checkPatterns(fields.checks),
    async () => {
      const sizes = await measureSkills(db, skills, projectId, fields.skills, { attached, skillLengths });
      if (!textChanged) return;
      // Use the greatest length of facts, in UTF-16 code units, because a later change of the facts must not make the
      // text of a run too long.
      const factsLength = fields.facts ? 2 * MAX_FACTS + FENCE_LENGTH : 0;
      checkTextLimits({ ...fields, skills: sizes, builtIns: builtInsOf(fields), factsLength });
    },
    async () => {
      const model = await checkModel(models, projectId, fields);
      if (!modelChanged || fields.model.effort === undefined || model.abilities.effort !== 'none') return;
      throw invalid([{ path: 'model.effort', message: 'the model has no effort setting; leave the effort out' }]);
    },
  ];
}

async function checkModel(models: ProjectModels, projectId: string, { model: chosen, budget }: RoutineFields) {
  const model = await models.find(projectId, chosen);
  if (model === undefined) {
    const message =
      models.explainAbsence(chosen) ?? 'no such provider, connectionId and modelId in the live model directory';
    throw invalid([{ path: 'model', message }], 'invalid_model');
  }
  if (model.prices !== null || budget.maxCostUsdPerMonth === null) return model;
  const message = 'the model has no prices, so its cost cannot be limited';
  throw invalid([{ path: 'budget.maxCostUsdPerMonth', message }]);
}

/**
 * Checks the form of results: a JSON Schema that compiles within the limits. Only the run that proves the version shows
 * whether data satisfies the schema and has the key.
 * @throws {AppError} `invalid_request`, `rate_limited` while many other schemas of the project are being checked
 */
async function checkForm(
  projectId: string,
  { resultSchema, resultKey }: Pick<RoutineFields, 'resultSchema' | 'resultKey'>,
): Promise<void> {
  if (resultSchema === null) {
    if (resultKey === null) return;
    const message = 'needs a resultSchema: resultKey names items of the data';
    throw invalid([{ path: 'resultKey', message }]);
  }
  try {
    await assertUsableSchema(projectId, resultSchema);
  } catch (error) {
    throw schemaRefusal(error, 'resultSchema');
  }
}

function checkOverridable({ overridable, variables }: RoutineFields): void {
  const faults = (overridable ?? []).flatMap((name, index) =>
    Object.hasOwn(variables, name)
      ? []
      : [{ path: `overridable[${index}]`, message: `the routine has no variable ${name}` }],
  );
  if (faults.length > 0) throw invalid(faults, 'invalid_variable');
}

/** Returns the built-in values of a run at their greatest length. */
function builtInsOf({ name }: RoutineFields) {
  const now = new Date(0).toISOString();
  const carried = ' '.repeat(MAX_CARRIED_LENGTH + FENCE_LENGTH);
  return {
    now,
    date: now.slice(0, 10),
    'routine.name': name,
    'run.id': newId('run'),
    scheduledFor: now,
    'previous.result': carried,
    'previous.finishedAt': now,
    'gate.value': carried,
    'previous.data': carried,
    'previous.changes': carried,
    actions: carried,
    answers: carried,
  };
}

/** Length that the marks, the announcement and the heading of a fenced text never exceed. */
const FENCE_LENGTH = 500;

function checkEnds({ outcome, mayComplete, mayPutOffHours }: RoutineFields): void {
  if (outcome === 'required' || (!mayComplete && mayPutOffHours === null)) return;
  const path = mayComplete ? 'mayComplete' : 'mayPutOffHours';
  throw invalid([{ path, message: 'needs `outcome: required`, because runs state it together with their outcome' }]);
}

/** Checks members, chats and the address of a monitor. @throws {AppError} `invalid_request` */
export async function checkNotifications(
  { database, outbound }: { database: Db; outbound: Pick<OutboundClient, 'urlFault'> },
  projectId: string,
  { notifications: { mail, successPingUrl }, resultsTo }: RoutineFields,
): Promise<void> {
  const fault = successPingUrl === null ? undefined : outbound.urlFault(successPingUrl);
  if (fault !== undefined) throw invalid([{ path: 'notifications.successPingUrl', message: fault.message }]);
  await assertRecipients(database, projectId, mail?.to ?? null, 'notifications.mail.to');
  await assertRecipients(database, projectId, resultsTo.mail, 'resultsTo.mail');
  const known = await chatsByName(database, projectId, resultsTo.chats);
  const unknown = resultsTo.chats.filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  throw invalid([{ path: 'resultsTo.chats', message: `not a chat of the project: ${unknown.join(', ')}` }]);
}

/** @throws {AppError} `invalid_gate` when the gate may not be asked */
export async function checkGate(...asked: Parameters<typeof gateFault>): Promise<void> {
  const fault = await gateFault(...asked);
  if (fault !== undefined) throw invalid([fault], 'invalid_gate');
}

/**
 * Returns the reason why a gate may not be asked. A gate may ask a public address, or a confirmed tool of this routine
 * that only reads and takes the arguments. Each run checks this again.
 */
export async function gateFault(
  db: Db,
  { outbound }: { readonly outbound: Pick<OutboundClient, 'urlFault'> },
  routine: { readonly projectId: string; readonly routineId: string },
  gate: Gate | null,
): Promise<Fault | undefined> {
  if (gate === null) return undefined;
  if (gate.url !== null) {
    const refused = outbound.urlFault(gate.url);
    return refused && { path: 'gate.url', message: refused.message };
  }
  if (gate.tool === null) return undefined;
  const fault = await judging.fixedCallFault(db, routine, gate.tool);
  return fault && { ...fault, path: `gate.tool.${fault.path}` };
}
