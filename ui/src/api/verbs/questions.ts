import { MessageSquareOff, Send } from 'lucide-react';
import { drawn } from '#ui/format/drawn.ts';
import type { Shape } from '../types.ts';
import { verb } from './verb.ts';

type Asked = Pick<Shape<'AskedQuestion'>, 'id' | 'default'>;

const ANSWERED = {
  changes: ['/v1/questions', '/v1/attention', '/v1/runs'],
  done: 'Answered',
} as const;

export const ANSWER = verb<{ readonly id: string; readonly answer: string }>()(
  'post',
  '/v1/questions/{questionId}/answer',
  {
    label: 'Answer',
    icon: Send,
    key: 'a',
    input: ({ id, answer }) => ({ path: { questionId: id }, body: { answer } }),
    ...ANSWERED,
  },
);

/** Text that a run gets in place of an answer, so that it does not ask again. */
const WITHOUT = 'Go on without an answer.';

export const GO_ON = verb<Asked>()('post', '/v1/questions/{questionId}/answer', {
  label: 'Go on without',
  icon: MessageSquareOff,
  key: 'r',
  question: ({ default: fallback }) => ({
    title: 'Go on without an answer?',
    description:
      fallback === null
        ? `Later runs get the text “${WITHOUT}” and do not ask this question again.`
        : `The default becomes the answer: “${drawn(fallback)}”. Later runs do not ask this question again.`,
    action: 'Go on without',
    kind: 'primary',
  }),
  input: ({ id, default: fallback }) => ({ path: { questionId: id }, body: { answer: fallback ?? WITHOUT } }),
  ...ANSWERED,
});
