import type { ModelDirectory } from '#core/models/index.ts';
import { unknownPlaceholders } from '#core/runs/index.ts';
import { isTimeZone, parseSchedule, ScheduleError } from '#core/scheduling/index.ts';
import { assertSkillsExist, type SkillCatalogue } from '#core/skills/index.ts';
import type { Db } from '#lib/database/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import type { RoutineFields } from './routine.ts';

export interface RoutineChecks {
  readonly models: ModelDirectory;
  readonly skills: SkillCatalogue;
  readonly outbound: Pick<OutboundClient, 'checkUrl'>;
}

/**
 * Checks what the shape of a request cannot say: schedule, time zone, placeholders, webhook URL, skills and model. A
 * change is checked as the whole routine that it makes.
 * @param attached references that a change leaves as they are: one whose skill was deleted since is passed over by
 * runs, and does not stand in the way of a new name
 * @throws {AppError} `invalid_schedule`, `invalid_timezone`, `invalid_variable`, `invalid_webhook_url`,
 * `invalid_skill`, `invalid_model`, `models_unavailable`
 */
export async function checkRoutine(
  db: Db,
  { models, skills, outbound }: RoutineChecks,
  projectId: string,
  fields: RoutineFields,
  attached: readonly string[] = [],
): Promise<void> {
  if (!isTimeZone(fields.timezone)) {
    throw invalid(
      [{ path: 'timezone', message: 'not a known IANA time zone' }],
      'invalid_timezone',
    );
  }
  checkSchedule(fields.schedule);
  const unknown = unknownPlaceholders(fields.instructions, fields.variables);
  if (unknown.length > 0) {
    const message = `no value for ${unknown.map((name) => `{{${name.slice(0, 64)}}}`).join(', ')}`;
    throw invalid([{ path: 'instructions', message }], 'invalid_variable');
  }
  if (fields.webhookUrl !== null) checkWebhookUrl(outbound, fields.webhookUrl);
  const references = fields.skills.filter((reference) => !attached.includes(reference));
  await assertSkillsExist(db, skills, projectId, references);
  if ((await models.find(fields.model)) === undefined) {
    const message = 'no such provider, connectionId and modelId in the live model directory';
    throw invalid([{ path: 'model', message }], 'invalid_model');
  }
}

function checkSchedule(schedule: string): void {
  try {
    parseSchedule(schedule);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    throw new AppError('invalid_schedule', `schedule: ${error.message}`);
  }
}

function checkWebhookUrl(outbound: Pick<OutboundClient, 'checkUrl'>, url: string): void {
  try {
    outbound.checkUrl(url);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new AppError('invalid_webhook_url', `webhookUrl: ${error.message}`);
  }
}
