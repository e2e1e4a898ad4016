import { answer, methodCase, READING, WRITING, type OddCase, type OddOutcome } from '../odd-case.ts';

/** Makes the case of a server that lists the two usual tools and this third one. */
function beside(name: string, tool: unknown, must: OddOutcome): OddCase {
  return methodCase(
    `a list with ${name}`,
    'tools/list',
    (request) => answer(request, { tools: [READING, WRITING, tool] }),
    must,
  );
}

const ODD = { name: 'odd', inputSchema: { type: 'object' } };
const LISTED: OddOutcome = { lists: ['odd'] };

/** Makes the case of a server that lists pages, each with the next cursor. The usual tools are on the first page. */
function pages(name: string, next: (cursor: string | undefined) => unknown, must: OddOutcome = {}): OddCase {
  return methodCase(
    `a list with ${name}`,
    'tools/list',
    (request) => answer(request, { tools: [READING, WRITING], nextCursor: next(request.cursor) }),
    must,
  );
}

export const LIST_CASES: readonly OddCase[] = [
  beside('a tool without an input schema', { name: 'odd' }, LISTED),
  beside('an input schema of null', { ...ODD, inputSchema: null }, LISTED),
  beside('an input schema that is a list', { ...ODD, inputSchema: [] }, { skips: [['odd', 'inputSchema']] }),
  beside('an input schema that is a text', { ...ODD, inputSchema: '{}' }, { skips: [['odd', 'inputSchema']] }),
  beside('an input schema of anyOf', { ...ODD, inputSchema: { anyOf: [{ type: 'object' }] } }, LISTED),
  beside('an input schema of a list of types', { ...ODD, inputSchema: { type: ['object', 'null'] } }, LISTED),
  beside('an input schema that requires null', { ...ODD, inputSchema: { type: 'object', required: null } }, LISTED),
  beside('an output schema without a type', { ...ODD, outputSchema: { properties: {} } }, LISTED),
  beside('an output schema of null', { ...ODD, outputSchema: null }, LISTED),
  beside(
    'an output schema that is true',
    { ...ODD, outputSchema: true },
    { ...LISTED, drops: [['odd', 'outputSchema']] },
  ),
  beside('a hint that is a text', { ...ODD, annotations: { readOnlyHint: 'true' } }, LISTED),
  beside(
    'a hint that is a number',
    { ...ODD, annotations: { readOnlyHint: 1 } },
    { ...LISTED, drops: [['odd', 'annotations.readOnlyHint']] },
  ),
  beside('annotations of null', { ...ODD, annotations: null }, LISTED),
  beside('hints of null', { ...ODD, annotations: { title: null, readOnlyHint: null } }, LISTED),
  beside(
    'annotations that are a text',
    { ...ODD, annotations: 'safe' },
    { ...LISTED, drops: [['odd', 'annotations']] },
  ),
  beside('icons that are a text', { ...ODD, icons: 'icon.png' }, LISTED),
  beside('an execution that is a list', { ...ODD, execution: [] }, LISTED),
  beside('a _meta of null', { ...ODD, _meta: null }, LISTED),
  beside('a title and a description of null', { ...ODD, title: null, description: null }, LISTED),
  beside('a title that is a number', { ...ODD, title: 5 }, { ...LISTED, drops: [['odd', 'title']] }),
  beside('a description that is a list', { ...ODD, description: [] }, { ...LISTED, drops: [['odd', 'description']] }),
  beside('null in place of a tool', null, { skips: [['tool 3 of the list', 'tool']] }),
  beside('a text in place of a tool', 'odd', { skips: [['tool 3 of the list', 'tool']] }),
  beside('a tool without a name', { inputSchema: {} }, { skips: [['tool 3 of the list', 'name']] }),
  beside('a name that is a number', { ...ODD, name: 7 }, { skips: [['tool 3 of the list', 'name']] }),
  beside('an empty name', { ...ODD, name: '' }, { skips: [['tool 3 of the list', null]] }),
  beside('the same tool twice', READING, {}),
  beside('another tool of the same name', { ...READING, description: 'Burns it.' }, { skips: [['read_page', null]] }),
  {
    ...beside(
      'two tools that differ in case only',
      { ...READING, name: 'Read_Page' },
      { lists: ['Read_Page'], acts: 2 },
    ),
    calls: ['read_page', 'Read_Page'],
  },
  methodCase('tools of null', 'tools/list', (request) => answer(request, { tools: null }), {
    refused: 'result.tools is null',
  }),
  methodCase('a list that is null', 'tools/list', (request) => answer(request, null), {
    refused: 'the result is null',
  }),
  pages('an empty cursor', () => ''),
  pages('a cursor of null', () => null),
  pages('one cursor for ever', () => 'a', { circular: true }),
  pages('cursors in a circle', (cursor) => (cursor === 'a' ? 'b' : 'a'), { circular: true }),
  pages('ever new cursors to the same page', (cursor) => `${Number(cursor ?? 0) + 1}`, { truncated: true }),
  pages('a cursor that is a number', (cursor) => (cursor === undefined ? 2 : undefined)),
];
