import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseHeaded } from '../document.ts';
import { fieldsOf } from '../../failure.ts';
import { KEY } from '../keys.ts';
import { everyMinutes, fiveFields, type Job, type Jobs, objectsOf, type Skipped, textOf } from './jobs.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads one job.
 * @throws when the job cannot be a routine
 */
type ReadJob = (
  job: Fields,
) => { readonly why: string } | (Omit<Job, 'name' | 'instructions'> & { instructions: string | undefined });

function readEach(list: unknown, read: ReadJob): Jobs {
  const jobs: Job[] = [];
  const skipped: Skipped[] = [];
  for (const job of objectsOf(list)) {
    const name = textOf(job['name']) ?? textOf(job['title']) ?? textOf(job['id']) ?? 'job';
    const made = read(job);
    if ('why' in made) skipped.push({ name, why: made.why });
    else if (made.instructions === undefined) skipped.push({ name, why: 'it has no prompt' });
    else {
      const off = job['enabled'] === false ? ['it was switched off there'] : [];
      jobs.push({ name, ...made, instructions: made.instructions, notes: [...made.notes, ...off] });
    }
  }
  return { jobs, skipped };
}

function lacking(fields: Fields): string[] {
  return Object.entries(fields).flatMap(([what, value]) =>
    value === undefined || value === null || value === false || value === ''
      ? []
      : [`${what} has no counterpart${typeof value === 'string' ? ` (${value.slice(0, 100)})` : ''}`],
  );
}

/** Reads `~/.openclaw/cron/jobs.json`; its form: openclaw/openclaw, src/cron/types.ts (CronStoreFile). */
export function readOpenClaw(value: unknown): Jobs {
  return readEach(fieldsOf(value)['jobs'] ?? value, (job) => {
    const { kind, expr, tz, staggerMs, everyMs } = fieldsOf(job['schedule']);
    const { kind: payload, message, text, model, thinking, timeoutSeconds } = fieldsOf(job['payload']);
    const { mode, to, channel } = fieldsOf(job['delivery']);
    if (kind === 'at') return { why: 'it runs once; a routine recurs' };
    const timing = kind === 'every' ? everyMinutes(Number(everyMs) / 60_000) : fiveFields(expr);
    if ('why' in timing) return timing;
    const url = mode === 'webhook' && String(to).startsWith('https://') ? { webhookUrl: String(to) } : {};
    const seconds = Number(timeoutSeconds);
    const limits = seconds >= 10 && seconds <= 86_400 ? { limits: { timeoutSeconds: Math.round(seconds) } } : {};
    const jitter = Number(staggerMs) >= 1_000 ? { jitterSeconds: Math.round(Number(staggerMs) / 1_000) } : {};
    return {
      schedule: timing.schedule,
      timezone: textOf(tz),
      instructions: textOf(message) ?? textOf(text),
      head: { ...url, ...limits, ...jitter },
      notes: [
        ...timing.notes,
        ...lacking({
          'the model': model,
          thinking,
          'the delivery': mode === 'announce' && (channel ?? true),
          'the agent': job['agentId'],
        }),
        ...(payload === 'systemEvent'
          ? ['it continued a conversation, and a run has none: it sees only its instructions']
          : []),
      ],
    };
  });
}

/**
 * Reads `~/.hermes/cron/jobs.json`; its form: NousResearch/hermes-agent,
 * website/docs/developer-guide/cron-internals.md.
 */
export function readHermes(value: unknown): Jobs {
  return readEach(fieldsOf(value)['jobs'] ?? value, (job) => {
    const { kind, expr, minutes } = fieldsOf(job['schedule']);
    if (kind === 'once') return { why: 'it runs once; a routine recurs' };
    if (job['no_agent'] === true) return { why: 'it runs a script without a model' };
    const timing = kind === 'interval' ? everyMinutes(Number(minutes)) : fiveFields(expr);
    if ('why' in timing) return timing;
    const { times } = fieldsOf(job['repeat']);
    const skills = [job['skills'] ?? job['skill'] ?? []].flat().map(String).join(', ');
    return {
      schedule: timing.schedule,
      instructions: textOf(job['prompt']),
      notes: [
        ...timing.notes,
        ...lacking({
          'the model': job['model'],
          'the script': job['script'],
          'the delivery': job['deliver'],
          'the number of runs': times,
          'the folder': job['workdir'],
        }),
        ...(skills === ''
          ? []
          : [`skills are files of their own here: write skills/<key>/SKILL.md for ${skills.slice(0, 200)}`]),
      ],
    };
  });
}

/**
 * Reads Claude's scheduled tasks from one of three files: `scheduled-tasks.json` of the desktop app, with each prompt
 * in `~/.claude/scheduled-tasks/<id>/SKILL.md`; `.claude/scheduled_tasks.json` of the terminal; or a single `SKILL.md`.
 * The desktop's format is known from code.claude.com/docs/en/desktop-scheduled-tasks and anthropics/claude-code issue
 * 47797.
 * @param prompts the folder of the prompts; a path in the file itself is not followed
 */
export async function readClaude(
  text: string,
  { target, prompts }: { target: string; prompts: string },
): Promise<Jobs> {
  if (text.startsWith('---')) {
    const { head, body } = parseHeaded(path.basename(target), text);
    const name = textOf(head['name']) ?? path.basename(path.dirname(target));
    const notes = ['the file has no schedule: chose each day at 9'];
    return { jobs: [{ name, instructions: body, schedule: '0 9 * * *', notes }], skipped: [] };
  }
  const value = fieldsOf(JSON.parse(text));
  const list = objectsOf(value['scheduledTasks'] ?? value['tasks'] ?? value);
  const withPrompts = await Promise.all(
    list.map(async (task) => ({
      ...task,
      prompt: textOf(task['prompt']) ?? (await promptOf(task, prompts)),
    })),
  );
  return readEach(withPrompts, (task) => {
    if (task['fireAt'] !== undefined || task['recurring'] === false) return { why: 'it runs once; a routine recurs' };
    const timing = fiveFields(task['cronExpression'] ?? task['cron']);
    if ('why' in timing) return timing;
    const { prompt, cwd, model, permissionMode } = task;
    return {
      schedule: timing.schedule,
      instructions: textOf(prompt),
      notes: [
        ...timing.notes,
        ...lacking({
          'the model': model,
          'the folder': cwd,
          'the permission mode': permissionMode,
        }),
        ...(task['approvedPermissions'] === undefined
          ? []
          : ['approved tools do not come along: connect tool servers and confirm their tools']),
      ],
    };
  });
}

async function promptOf({ id }: Fields, folder: string): Promise<string | undefined> {
  const name = String(id).toLowerCase();
  if (!KEY.test(name)) return undefined;
  const file = path.join(folder, String(id), 'SKILL.md');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  return text.startsWith('---\n') ? parseHeaded(file, text).body : text;
}
