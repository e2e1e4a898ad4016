import { FINISH } from '#core/tools/index.ts';
import type { ModelMessage } from 'ai';

/** Reminds a model, once, that it has to state its outcome; kept with the step that it follows. */
export const REMINDER = {
  role: 'user',
  content: [
    `You ended without calling \`${FINISH}\`, which this routine requires.`,
    'Call it now, by itself, with the outcome and a summary.',
    'Your last message is kept as the result; write text beside the call only to replace it.',
    'Without the call this run counts as failed.',
  ].join(' '),
} as const satisfies ModelMessage;

/** Finds the reminder among the messages of a run; no other message has its text. */
function reminderIn(transcript: readonly ModelMessage[]): number {
  return transcript.findIndex(
    ({ role, content }) => role === REMINDER.role && content === REMINDER.content,
  );
}

export function wasReminded(transcript: readonly ModelMessage[]): boolean {
  return reminderIn(transcript) !== -1;
}

/** Returns the text that was taken for the end before the reminder; null when there is none. */
export function textBeforeReminder(transcript: readonly ModelMessage[]): string | null {
  const message = transcript[reminderIn(transcript) - 1];
  const text = message === undefined ? '' : textOf(message);
  return text.trim() === '' ? null : text;
}

function textOf({ content }: ModelMessage): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
