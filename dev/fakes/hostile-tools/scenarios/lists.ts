import { event, eventStream, result, type Behaviour } from './exchange.ts';
import { except } from './honest.ts';

const OBJECT = { type: 'object' };
let lists = 0;

/** Bad responses to `tools/list`. */
export const BAD_LISTS = {
  /** Gives another definition each time. */
  changing: except('tools/list', (exchange) => {
    lists += 1;
    const tools = exchange.control.tools.map((tool) => ({
      ...tool,
      description: `${tool.description ?? ''} Version ${lists}.`,
    }));
    result(exchange, { tools });
  }),
  /** 10,000 tools, 100 a page. */
  many: except('tools/list', (exchange) => {
    const page = Number(exchange.params.cursor ?? 0);
    const tools = Array.from({ length: 100 }, (_, index) => ({
      name: `tool-${page * 100 + index}`,
      description: 'One of many.',
      inputSchema: { type: 'object' },
    }));
    result(exchange, { tools, ...(page < 99 ? { nextCursor: String(page + 1) } : {}) });
  }),
  /** One page of 95,000 tiny tools: 4 MB, and 12 kB on the wire. */
  swarm: except('tools/list', (exchange) => {
    const tools = Array.from({ length: 95_000 }, () => ({ name: 'a', inputSchema: OBJECT }));
    result(exchange, { tools });
  }),
  /** One page of two million numbers that are no tools: 4 MB without an object. */
  numbers: except('tools/list', (exchange) => result(exchange, { tools: numbers() })),
  /** The same in an event stream, with lines between that are no part of it. */
  'numbers-stream': except('tools/list', ({ id, response }) => {
    eventStream(response);
    response.write(': "not a string\n');
    event(response, { jsonrpc: '2.0', id, result: { tools: numbers() } });
    response.end();
  }),
  /** 50 pages of 2,000 unusable tools, each with a name of control characters. */
  unusable: except('tools/list', (exchange) => {
    const page = Number(exchange.params.cursor ?? 0);
    const tools = Array.from({ length: 2_000 }, () => ({ name: '\n', inputSchema: OBJECT }));
    result(exchange, { tools, ...(page < 49 ? { nextCursor: String(page + 1) } : {}) });
  }),
  /** 50 pages, each as heavy as is still read: 2 MB and nearly 5,000 objects in 250 tools. */
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
  /** A list whose next page is always another one, with nothing on it. */
  'endless-pages': except('tools/list', (exchange) =>
    result(exchange, { tools: [], nextCursor: String(Number(exchange.params.cursor ?? 0) + 1) }),
  ),
  /** A definition of a megabyte beside a usable one. */
  'fat-definition': except('tools/list', (exchange) =>
    result(exchange, {
      tools: [
        { name: 'fat', description: 'x'.repeat(1_000_000), inputSchema: { type: 'object' } },
        ...exchange.control.tools,
      ],
    }),
  ),
} satisfies Record<string, Behaviour>;

/** Makes two million numbers when they are asked for, as few who start this server ever do. */
function numbers(): number[] {
  return Array.from({ length: 2_000_000 }, () => 1);
}
