import { createHash } from 'node:crypto';

import { promptOf, textOf } from './request.ts';
import type { ChatMessage, ChatRequest } from './request.ts';

/**
 * Writes a short report that shows what reached the model: the task's first lines, the attached skills, the date and
 * the tool results. The fingerprint changes with any letter of the prompt.
 */
export function report(request: ChatRequest): string {
  const prompt = promptOf(request);
  const task = request.messages.find(({ role }) => role === 'user') ?? request.messages[0];
  const lines = (task === undefined ? '' : textOf(task))
    .split('\n')
    .map((line) => line.replace(/^[#>*\s-]+/, '').trim())
    .filter(Boolean);
  const skills = [...prompt.matchAll(/^## Skill: (.+)$/gm)].map(([, name]) => name);
  const date = /\b\d{4}-\d{2}-\d{2}\b/.exec(prompt)?.[0] ?? new Date().toISOString().slice(0, 10);
  const results = toolResults(request.messages);

  return [
    `# ${cut(lines[0] ?? 'Untitled task', 80)}`,
    '',
    `Report of ${date}.`,
    ...(lines.length > 1 ? ['', ...lines.slice(1, 4).map((line) => `> ${cut(line, 120)}`)] : []),
    ...(skills.length > 0 ? ['', `Skills applied: ${skills.join(', ')}.`] : []),
    ...(results.length > 0 ? ['', 'What the tools said:', ...results] : []),
    '',
    `Prompt ${createHash('sha256').update(prompt).digest('hex').slice(0, 12)}, ${prompt.length} characters.`,
  ].join('\n');
}

function toolResults(messages: readonly ChatMessage[]): string[] {
  const names = new Map(
    messages.flatMap(({ tool_calls }) =>
      (tool_calls ?? []).map((call) => [call.id, call.function.name] as const),
    ),
  );
  return messages
    .filter(({ role }) => role === 'tool')
    .map((message) => {
      const name = names.get(message.tool_call_id ?? '') ?? 'unknown tool';
      return `- ${name}: ${cut(textOf(message).replaceAll(/\s+/g, ' '), 200)}`;
    });
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
