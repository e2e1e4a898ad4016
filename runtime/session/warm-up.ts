import type { Protocol } from '#lib/provider-file/protocols.ts';
import { brokerFetch } from './broker-fetch.ts';
import { runStep } from './step.ts';

/** Number of warm-up steps. The first real step took 65 ms of CPU after one round, 18 after two, and 12 after four. */
const ROUNDS = 2;

/**
 * Runs steps of each protocol on built-in responses before the session gets work. The code of the model library is
 * compiled then, so the first real step is not slower than the next. The steps send nothing. One request after them
 * loads Node's HTTP client, and the broker refuses it.
 */
export async function warmUp(protocols: readonly Protocol[], socketPath: string): Promise<void> {
  for (const protocol of Array.from({ length: ROUNDS }, () => protocols).flat()) {
    const answer = async () => new Response(CANNED[protocol], { headers: { 'content-type': 'text/event-stream' } });
    await runStep(
      {
        protocol,
        path: '/',
        modelId: 'warm-up',
        instructions: 'x',
        messages: [{ role: 'user', content: 'x' }],
        tools: [{ name: 'x', description: 'x', inputSchema: { type: 'object' } }],
        maxOutputTokens: 1,
        options: { stream: 'with_usage', omit: [] },
        limits: { errors: [] },
        idleMs: 10_000,
      },
      answer,
    );
  }
  const refused = brokerFetch({ socketPath, path: '/warm-up', omit: [] });
  await (await refused('http://broker.internal', { method: 'POST', body: '{}' })).text();
}

const CANNED: Readonly<Record<Protocol, string>> = {
  'openai-chat': events(
    { id: 'x', choices: [{ index: 0, delta: { role: 'assistant', content: 'x' } }] },
    { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { id: 'x', choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
  ),
  'openai-responses': events(
    { type: 'response.created', response: { id: 'x', created_at: 1, model: 'x' } },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'message', id: 'm', role: 'assistant', content: [] },
    },
    { type: 'response.output_text.delta', output_index: 0, item_id: 'm', delta: 'x' },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'message', id: 'm', role: 'assistant', content: [] },
    },
    { type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 1 } } },
  ),
  'anthropic-messages': events(
    {
      type: 'message_start',
      message: {
        id: 'x',
        type: 'message',
        role: 'assistant',
        model: 'x',
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ),
};

function events(...each: readonly object[]): string {
  return each.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}
