import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertStorable } from '#api/http/body.ts';
import { routes } from '#api/routes.ts';
import { sized, TIMES } from '#test/support/properties.ts';
import { documented, nearly, operationOf, parametersOf, type Parameter } from './agreement.ts';

/** Number of values for each schema, enough that some fit the narrowest schema. */
const TRIED = { numRuns: sized(1_000) * TIMES };

const withBody = routes.filter(({ spec }) => spec.body !== undefined);
const withParameters = routes.filter(
  ({ spec }) => spec.query !== undefined || spec.params !== undefined,
);

test.each(withBody.map(({ spec }) => [spec.id, spec] as const))(
  'the document and the parser agree on every body of %s',
  (_, spec) => {
    const { requestBody } = operationOf(spec);
    const { schema } = requestBody!.content['application/json'];
    const isDocumented = documented(schema);
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(nearly(schema), (value) => {
        const body: unknown = JSON.parse(JSON.stringify(value));
        const isAccepted = isStorable(body) && spec.body!.safeParse(body).success;
        seen[isAccepted ? 'accepted' : 'refused'] += 1;
        expect(isAccepted, JSON.stringify(body)).toBe(isDocumented(body));
      }),
      TRIED,
    );
    expect(seen.accepted).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  },
);

test.each(withParameters.map(({ spec }) => [spec.id, spec] as const))(
  'the document and the parser agree on every parameter of %s',
  (_, spec) => {
    for (const parameter of parametersOf(spec)) {
      // HTTP accepts this parameter, but no operation has it.
      if (parameter.name === 'page') continue;
      if (parameter.in === 'header') continue;
      const parser = (parameter.in === 'query' ? spec.query : spec.params) as unknown as {
        shape: Record<string, { safeParse(value: unknown): { success: boolean } }>;
      };
      const isDocumented = documented(parameter.schema);
      fc.assert(
        fc.property(nearly(parameter.schema), (value) => {
          // A URL contains text, which cannot express arrays and objects.
          const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
          const isAccepted =
            isStorable(text) && parser.shape[parameter.name]!.safeParse(text).success;
          expect(isAccepted, `${parameter.name}=${JSON.stringify(text)}`).toBe(
            isDocumented(read(parameter, text)),
          );
        }),
        TRIED,
      );
    }
  },
);

/** Reads a parameter like the library of a client, by its type. */
function read({ schema }: Parameter, text: string): unknown {
  const isNumber = schema.type === 'integer' && /^-?(?:0|[1-9]\d*)$/.test(text);
  return isNumber ? Number(text) : text;
}

function isStorable(value: unknown): boolean {
  try {
    assertStorable(value);
    return true;
  } catch {
    return false;
  }
}
