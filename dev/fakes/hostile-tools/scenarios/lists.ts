import { event, eventStream, result, type Behaviour } from './exchange.ts';
import { except } from './honest.ts';

const OBJECT = { type: 'object' };
let lists = 0;

/** Bad responses to `tools/list`. */
export const BAD_LISTS = {
  /** Changes the definitions of the tools at each request. */
  changing: except('tools/list', (exchange) => {
    lists += 1;
    const tools = exchange.control.tools.map((tool) => ({
      ...tool,
      description: `${tool.description ?? ''} Version ${lists}.`,
    }));
    result(exchange, { tools });
  }),
  /** Lists 10,000 tools, 100 a page. */
  many: except('tools/list', (exchange) => {
    const page = Number(exchange.params.cursor ?? 0);
    const tools = Array.from({ length: 100 }, (_, index) => ({
      name: `tool-${page * 100 + index}`,
      description: 'One of many.',
      inputSchema: { type: 'object' },
    }));
    result(exchange, { tools, ...(page < 99 ? { nextCursor: String(page + 1) } : {}) });
  }),
  /** Lists 95,000 tiny tools on one page: 4 MB, compressed to 12 kB. */
  swarm: except('tools/list', (exchange) => {
    const tools = Array.from({ length: 95_000 }, () => ({ name: 'a', inputSchema: OBJECT }));
    result(exchange, { tools });
  }),
  /** Lists two million numbers in place of tools: 4 MB without an object. */
  numbers: except('tools/list', (exchange) => result(exchange, { tools: numbers() })),
  /** Sends the list of `numbers` in an event stream, with other lines between its lines. */
  'numbers-stream': except('tools/list', ({ id, response }) => {
    eventStream(response);
    response.write(': "not a string\n');
    event(response, { jsonrpc: '2.0', id, result: { tools: numbers() } });
    response.end();
  }),
  /** Lists 50 pages of 2,000 unusable tools, whose names are control characters. */
  unusable: except('tools/list', (exchange) => {
    const page = Number(exchange.params.cursor ?? 0);
    const tools = Array.from({ length: 2_000 }, () => ({ name: '\n', inputSchema: OBJECT }));
    result(exchange, { tools, ...(page < 49 ? { nextCursor: String(page + 1) } : {}) });
  }),
  /** Lists 50 pages that are barely accepted: 2 MB and nearly 5,000 objects in 250 tools. */
  heavy: except('tools/list', (exchange) => {
    const page = Number(exchange.params.cursor ?? 0);
    const properties = Object.fromEntries(
      Array.from({ length: 16 }, (_, index) => [`property${index}`, { type: 'string' }]),
    );
    const inputSchema = { ...OBJECT, properties, description: 'x'.repeat(7_000) };
    const tools = Array.from({ length: 250 }, (_, index) => ({
      name: `tool-${page}-${index}`,
      inputSchema,
    }));
    result(exchange, { tools, ...(page < 49 ? { nextCursor: String(page + 1) } : {}) });
  }),
  /** Lists an empty page that always names a next one. */
  'endless-pages': except('tools/list', (exchange) =>
    result(exchange, { tools: [], nextCursor: String(Number(exchange.params.cursor ?? 0) + 1) }),
  ),
  /** Lists a definition of a megabyte beside a usable one. */
  'fat-definition': except('tools/list', (exchange) =>
    result(exchange, {
      tools: [
        { name: 'fat', description: 'x'.repeat(1_000_000), inputSchema: { type: 'object' } },
        ...exchange.control.tools,
      ],
    }),
  ),
} satisfies Record<string, Behaviour>;

/** Makes two million numbers on demand, because few tests need them. */
function numbers(): number[] {
  return Array.from({ length: 2_000_000 }, () => 1);
}
