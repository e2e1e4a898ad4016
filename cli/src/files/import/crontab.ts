import { usageError } from '../../failure.ts';
import { fiveFields, type Job, type Jobs, type Skipped } from './jobs.ts';

/**
 * Reads the lines of a crontab (crontab(5) of cronie and of Debian): settings, and five fields or `@daily` with a
 * command. The service runs no shell. If the command asks an assistant, its prompt becomes the instructions; any other
 * command is quoted, for a person to describe in words.
 */
export function readCrontab(text: string): Jobs {
  if (/^\s*[[{<]/.test(text)) throw usageError('This is not a crontab: it begins like JSON or XML.');
  const jobs: Job[] = [];
  const skipped: Skipped[] = [];
  let timezone: string | undefined;
  for (const [at, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    const name = `line ${at + 1}`;
    const setting = /^([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(line);
    if (line === '' || line.startsWith('#')) continue;
    if (setting !== null) {
      const [, variable = '', value = ''] = setting;
      if (variable === 'CRON_TZ' || variable === 'TZ') timezone = value.replaceAll(/^["']|["']$/g, '');
      else
        skipped.push({
          name,
          why: `the setting ${variable} has no counterpart, and its value was not copied`,
        });
      continue;
    }
    const entry = /^(@\w+|(?:\S+\s+){4}\S+)\s+(.+)$/.exec(line);
    const timing = fiveFields(entry?.[1] ?? line.slice(0, 80));
    if (entry === null) skipped.push({ name, why: 'has no schedule with a command' });
    else if ('why' in timing) skipped.push({ name, why: timing.why });
    else jobs.push(jobOf(entry[2] ?? '', { ...timing, timezone }));
  }
  return { jobs, skipped };
}

/** An assistant that takes its prompt on the command line. */
const ASSISTANT =
  /(?:^|[\s;&|/])(claude|codex|gemini|llm|opencode|hermes|openclaw)\b[^'"]*?(?:"((?:[^"\\]|\\.)*)"|'([^']*)')/;

function jobOf(
  command: string,
  timing: { schedule: string; timezone: string | undefined; notes: readonly string[] },
): Job {
  // An unescaped % begins the input of the command, and `\%` is one of its characters.
  const [whole = '', ...input] = command.split(/(?<!\\)%/).map((part) => part.replaceAll('\\%', '%'));
  // Leave out settings in the command, which are often secrets and no good name for a job.
  const settings = /^(?:env\s+)?(?:[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|\S*)\s+)+/.exec(whole)?.[0] ?? '';
  const shell = whole.slice(settings.length);
  const names = Array.from(settings.matchAll(/([A-Za-z_]\w*)=/g), ([, name]) => name);
  const left = names.length === 0 ? [] : [`left out what the command sets: ${names.join(', ')}`];
  const [, assistant, double, single] = ASSISTANT.exec(shell) ?? [];
  const prompt = (double?.replaceAll(/\\(["\\$`])/g, '$1') ?? single ?? '').trim();
  if (assistant !== undefined && prompt !== '') {
    return {
      ...timing,
      name: prompt.split('\n')[0]?.slice(0, 80) ?? assistant,
      instructions: [prompt, ...input].join('\n'),
      notes: [
        ...timing.notes,
        ...left,
        `took the prompt out of the call of ${assistant}; the rest of the command has no counterpart`,
      ],
    };
  }
  return {
    ...timing,
    name: shell.trim().split(/\s+/)[0]?.split('/').at(-1) ?? 'cron job',
    instructions: `Do what this cron job did, with the tools that you have:\n\n    ${[shell, ...input].join(' ')}`,
    notes: [...timing.notes, ...left, 'a shell command has no counterpart: say in words what it was for'],
  };
}
