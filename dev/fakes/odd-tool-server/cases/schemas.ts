import { answer, READING, WRITING, type OddCase } from '../odd-case.ts';

/**
 * Makes the case of a server that lists a reading tool with this schema of a property. The tool's warning names the
 * property, and the tool is called.
 */
function property(name: string, schema: object | string, place: string, root: object = {}): OddCase {
  return withSchema(name, { type: 'object', properties: { page: schema }, ...root }, place);
}

function withSchema(name: string, inputSchema: object, warns: string, outputSchema?: object): OddCase {
  return {
    name: `a schema with ${name}`,
    must: { warns },
    reply(request) {
      if (request.method === 'tools/list') {
        return answer(request, { tools: [{ ...READING, inputSchema, outputSchema }, WRITING] });
      }
      if (request.method !== 'tools/call') return undefined;
      request.act();
      return answer(request, { content: [], structuredContent: { page: 'a' } });
    },
  };
}

const IN_PAGE = 'inputSchema.properties.page';

export const SCHEMA_CASES: readonly OddCase[] = [
  property('the dialect of draft 4', { type: 'string' }, 'inputSchema.$schema', {
    $schema: 'http://json-schema.org/draft-04/schema#',
  }),
  property('a dialect of its own', { type: 'string' }, 'inputSchema.$schema', { $schema: 'https://a.example/dialect' }),
  property('an exclusive minimum of draft 4', { minimum: 1, exclusiveMinimum: true }, `${IN_PAGE}.exclusiveMinimum`),
  property('a pattern of Python', { type: 'string', pattern: '(?P<y>\\d{4})\\Z' }, `${IN_PAGE}.pattern`),
  property('a lookahead', { type: 'string', pattern: '^(?!x)' }, `${IN_PAGE}.pattern`),
  property('a type any', { type: 'any' }, `${IN_PAGE}.type`),
  property('a property that requires itself', { type: 'string', required: true }, `${IN_PAGE}.required`),
  property('a property that is a text', 'string', IN_PAGE),
  property('a reference to nowhere', { $ref: '#/definitions/Page' }, `${IN_PAGE}.$ref`),
  property('a reference to elsewhere', { $ref: 'https://a.example/page.json' }, `${IN_PAGE}.$ref`),
  property('a nullable without a type', { nullable: true }, `${IN_PAGE}.nullable`),
  property('an empty enum', { enum: [] }, `${IN_PAGE}.enum`),
  property('a negation of what cannot be read', { not: { pattern: '(?!x)' } }, `${IN_PAGE}.not`),
  withSchema(
    'a pattern of Python in a name',
    { patternProperties: { '(?P<y>a)': {} } },
    'inputSchema.patternProperties',
  ),
  withSchema('an odd output', { type: 'object' }, 'outputSchema.properties.page.type', {
    properties: { page: { type: 'any' } },
  }),
];
