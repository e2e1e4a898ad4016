import { homedir } from 'node:os';
import path from 'node:path';
import { usageError } from '../../failure.ts';
import { renderHeaded, type Head } from '../document.ts';
import { freeKey } from '../keys.ts';
import { KINDS } from '../kinds.ts';
import type { LocalProject } from '../project.ts';
import { schemaFaults } from '../schema.ts';
import { writeFileIn } from '../disk.ts';
import { readClaude, readHermes, readOpenClaw } from './assistants.ts';
import { readCrontab } from './crontab.ts';
import { type Job, type JobKind, type Jobs, MAX_JOBS, type Skipped } from './jobs.ts';
import { readN8n } from './n8n.ts';

export interface ImportReport {
  readonly written: readonly {
    readonly file: string;
    readonly name: string;
    /** Parts of the job without a counterpart, and the choices made. */
    readonly notes: readonly string[];
  }[];
  readonly skipped: readonly Skipped[];
}

interface Options {
  readonly local: LocalProject;
  /** Path of the file that is read. */
  readonly target: string;
  readonly model?: string;
  readonly timezone?: string;
  /** Folder of the prompts of scheduled tasks of Claude. */
  readonly prompts?: string;
}

/** Writes a routine for each job of another system's file. Each is a draft once it is applied. */
export async function importJobs(kind: JobKind, text: string, options: Options): Promise<ImportReport> {
  const { jobs, skipped } = await read(kind, text.replace(/^\uFEFF/, ''), options);
  if (jobs.length > MAX_JOBS) throw usageError(`The file has more than ${MAX_JOBS} jobs.`);
  const { folder, items } = options.local;
  const taken = new Set(items.flatMap(({ kind: each, key }) => (each === 'routine' ? [key] : [])));
  const left: Skipped[] = [...skipped];
  const made: { file: string; text: string; name: string; notes: readonly string[] }[] = [];
  for (const given of jobs) {
    // The name becomes a file name, which git and the service see, so secrets are removed from it.
    const job = { ...given, name: withoutSecrets(given.name).text };
    const { head, body, notes } = routineOf(job, options);
    const { schema, text: length, schemaPath, fileOf } = KINDS.routine;
    const complete = { ...options.local.settings.defaults, ...head };
    const [fault] = schemaFaults(schema, complete);
    if (fault !== undefined) left.push({ name: job.name, why: `${fault.path.join('.')}: ${fault.message}` });
    else if (body.length > length.max) left.push({ name: job.name, why: 'its prompt is too long' });
    else {
      const key = freeKey(job.name, taken);
      taken.add(key);
      made.push({
        file: fileOf(key),
        text: renderHeaded(head, body, schemaPath),
        name: job.name,
        notes,
      });
    }
  }
  const skippedNames = left.map(({ name, why }) => ({
    name: withoutSecrets(name).text,
    why: withoutSecrets(why).text,
  }));
  for (const { file, text: content } of made) await writeFileIn(folder, file, content);
  return { written: made.map(({ file, name, notes }) => ({ file, name, notes })), skipped: skippedNames };
}

async function read(kind: JobKind, text: string, options: Options): Promise<Jobs> {
  const { target, prompts = path.join(homedir(), '.claude/scheduled-tasks') } = options;
  try {
    switch (kind) {
      case 'crontab':
        return readCrontab(text);
      case 'claude':
        return await readClaude(text, { target, prompts });
      case 'n8n':
        return readN8n(JSON.parse(text));
      case 'openclaw':
        return readOpenClaw(JSON.parse(text));
      case 'hermes':
        return readHermes(JSON.parse(text));
    }
  } catch (error) {
    if (error instanceof SyntaxError) throw usageError(`${target} is no JSON: ${error.message.slice(0, 200)}`);
    // The text is nested more deeply than the stack allows. No real export is nested so deeply.
    if (error instanceof RangeError) throw usageError(`${target} is nested too deeply.`);
    throw error;
  }
}

/** Placeholders that the service fills in. */
const BUILT_IN = /^(?:now|date|scheduledFor|routine\.name|run\.id|gate\.value|previous\.\w+)$/;
const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,63})\s*\}\}/g;

function routineOf(job: Job, { local, model, timezone }: Options) {
  const notes = [...job.notes];
  const { defaults } = local.settings;
  const zone = job.timezone ?? timezone ?? (defaults['timezone'] === undefined ? localZone() : undefined);
  if (job.timezone === undefined) notes.push(`it names no time zone: chose ${zone ?? String(defaults['timezone'])}`);
  const chosen = model ?? (defaults['model'] === undefined ? 'choose-a-model' : undefined);
  if (chosen === 'choose-a-model') notes.push('choose a model: `model.modelId` in its head');
  const { text, secrets } = withoutSecrets(job.instructions.trim());
  if (secrets > 0) notes.push(`left out ${secrets} of what looks like a secret`);
  const { head: jobHead, left } = withoutAddressSecrets(job.head ?? {});
  notes.push(...left);
  const asked = [...new Set(Array.from(text.matchAll(PLACEHOLDER), ([, name = '']) => name))];
  const variables = Object.fromEntries(asked.filter((name) => !BUILT_IN.test(name)).map((name) => [name, '']));
  if (Object.keys(variables).length > 0) notes.push(`fill in the variables ${Object.keys(variables).join(', ')}`);
  const head = {
    name:
      job.name
        .replaceAll(/\p{C}+/gu, ' ')
        .trim()
        .slice(0, 200) || 'Imported routine',
    schedule: job.schedule,
    ...(zone !== undefined && { timezone: zone }),
    ...jobHead,
    ...(Object.keys(variables).length > 0 && { variables }),
    ...(chosen !== undefined && { model: { provider: 'gateway', modelId: chosen } }),
  };
  return { head, body: text, notes };
}

function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
}

const SECRETS = [
  // In a query even a short value may be a secret.
  /([?&][\w.-]*(?:key|token|secret|sig|auth|code|passw)[\w.-]*=)[^\s"'&#]+/gi,
  /(\b[\w-]*(?:api[_-]?key|token|secret|passw(?:or)?d)[\w-]*["']?\s*[=:]\s*["']?)[^\s"'&]{6,}/gi,
  // Values of options, variables and headers. In a sentence, the word after a colon is rarely a secret.
  /(--[\w-]*(?:key|token|secret|pass|auth|credential)[\w-]*[\s=]+["']?)[^\s"'[-][^\s"']*/gi,
  /(\b\w*(?:api_?key|token|secret|passw(?:or)?d|passwd)\w*=["']?)[^\s"'&[]+/gi,
  /((?:-H|--header)[\s=]*["']?[\w-]*(?:key|token|secret|auth|cookie)[\w-]*:\s*)[^\s"'[][^"'\n]*/gi,
  /(\b(?:sshpass\s+|mysql\w*\s[^;|&\n]*?|mariadb\w*\s[^;|&\n]*?)-p\s?["']?)[^\s"'[]+/gi,
  // Addresses of rooms and bots, whose path is the secret.
  /(\/\/hooks\.slack\.com\/\w+\/|\/\/discord(?:app)?\.com\/api\/webhooks\/|\.webhook\.office\.com\/|\/\/api\.telegram\.org\/bot)[^\s"'[]+/gi,
  /(\b(?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{8,}/g,
  /(\bAuthorization["']?\s*[:=]\s*["']?(?:[A-Za-z]+\s+)?)[^\s"'[]{3,}/gi,
  /(\s(?:-u|--user|--proxy-user)[\s=]+["']?[^\s:"']+:)[^\s"']+/g,
  /()\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  /()\b(?:sk|pk|ras|gh[opsu]|github_pat|xox[abp]|glpat|npm|hf|AIza|AKIA|whsec)[-_]?[A-Za-z0-9_-]{16,}/g,
  /(\/\/[^\s/:@]+:)[^\s/@]+(?=@)/g,
];

/** Removes the user, query and fragment of an address, because they may be a secret. */
function withoutAddressSecrets(head: Head): { head: Head; left: string[] } {
  const { webhookUrl, ...others } = head;
  if (webhookUrl === undefined) return { head, left: [] };
  const url = typeof webhookUrl === 'string' ? URL.parse(webhookUrl) : null;
  const isPlain = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (isPlain && withoutSecrets(url.href).secrets === 0) return { head, left: [] };
  const host = url === null ? 'its webhook' : `its webhook at ${url.host}`;
  return { head: others, left: [`left out the address of ${host}, which may hold a secret: set it in the dashboard`] };
}

/** Removes texts that look like secrets, because files have more readers than jobs. */
function withoutSecrets(given: string): { text: string; secrets: number } {
  let secrets = 0;
  const text = SECRETS.reduce(
    (rest, pattern) =>
      rest.replaceAll(pattern, (_, before: string) => {
        secrets += 1;
        return `${before}[left out]`;
      }),
    given,
  );
  return { text, secrets };
}
