import { fieldsOf } from './lean.ts';
import { untaken } from './shared-bases.ts';

/** Writes a response of several operations once, with the shortest of their descriptions. */
export function withSharedResponses<D extends object>(document: D): D {
  const { paths, components }: { paths?: unknown; components?: unknown } = document;
  const { responses: shared, schemas } = fieldsOf(components);
  const places = Object.values(fieldsOf(paths))
    .flatMap((path) => Object.values(fieldsOf(path)))
    .flatMap((operation) => {
      const responses = fieldsOf(fieldsOf(operation)['responses']);
      return Object.keys(responses).map((status) => ({ responses, status, response: fieldsOf(responses[status]) }));
    });
  const alike = Map.groupBy(places, ({ response }) => JSON.stringify(response['content']) ?? '');
  for (const [content, same] of alike) {
    const [shortest] = same.map(({ response }) => response).toSorted((a, b) => wordsOf(a).length - wordsOf(b).length);
    const [, data] = /\/schemas\/(\w+)"/.exec(content) ?? [];
    if (same.length < 2 || data === undefined) continue;
    const name = untaken({ ...fieldsOf(schemas), ...fieldsOf(shared) }, `${data}Response`);
    fieldsOf(shared)[name] = shortest;
    for (const { responses, status } of same) responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return document;
}

function wordsOf({ description }: Record<string, unknown>): string {
  return String(description);
}
