import { describe, expect, test } from 'vitest';
import { ABILITIES_OF_DIALECT, type ModelAbilities } from '#core/clients/gateway/index.ts';
import { lessonOf } from '#core/clients/gateway/lesson.ts';
import { adaptRequest } from '#core/clients/gateway/request.ts';

const BODY = { model: 'm', messages: [{ role: 'user', content: 'Think of reasoning_effort.' }] };

describe('the effort of a request', () => {
  test.for([
    ['openai', { reasoning_effort: 'low' }],
    ['gemini', { reasoning_effort: 'low' }],
    ['groq', { reasoning_effort: 'low' }],
    ['ollama', { reasoning_effort: 'low' }],
    ['openrouter', { reasoning: { effort: 'low' } }],
    ['llama.cpp', { chat_template_kwargs: { reasoning_effort: 'low' } }],
    ['anthropic', {}],
  ] as const)('goes to %s in the field of that server', ([dialect, fields]) => {
    const abilities = ABILITIES_OF_DIALECT[dialect];
    const { reasoning_effort, reasoning, chat_template_kwargs } = adaptRequest(BODY, abilities, 'low');
    const sent = Object.entries({ reasoning_effort, reasoning, chat_template_kwargs });
    expect(Object.fromEntries(sent.filter(([, value]) => value !== undefined))).toEqual(fields);
    expect(adaptRequest(BODY, abilities)).toEqual(adaptRequest(BODY, { ...abilities, effort: 'none' }, 'low'));
  });

  test.for([
    ['reasoning_effort', "Unsupported parameter: 'reasoning_effort' is not supported with this model.", 'low'],
    ['reasoning_effort', 'Unrecognized request argument supplied: reasoning_effort', 'low'],
    ['reasoning', 'No endpoints found that support the parameter reasoning', { effort: 'low' }],
    ['chat_template_kwargs', 'unknown field chat_template_kwargs', { reasoning_effort: 'low' }],
  ] as const)('is left out once a server refuses %s: %s', ([field, said, value]) => {
    const body = { said, places: [] };
    const lesson = (sent: object) => lessonOf(400, body as never, said, { ...BODY, ...sent }).learned;
    expect(lesson({ [field]: value })).toEqual({ effort: 'none' } satisfies ModelAbilities);
    expect(lesson({})).not.toEqual({ effort: 'none' });
  });
});
