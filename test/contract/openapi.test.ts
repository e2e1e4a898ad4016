import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { buildOpenApi } from '#api/docs/openapi.ts';
import { type Audience, errorsOf } from '#api/docs/responses.ts';
import { routes } from '#api/routes.ts';
import { ERRORS, type ErrorCode } from '#lib/errors.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const run = promisify(execFile);

test('the document passes a strict linter without a warning', async () => {
  const { output } = await lint(document());
  const shown = output.problems.map(
    ({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`,
  );
  expect(shown).toEqual([]);
  expect(output.totals).toMatchObject({ errors: 0, warnings: 0 });
});

test('the document for API keys passes it too, with one response for all errors and the events of webhooks', async () => {
  const { output } = await lint(document('keys'));
  const others = output.problems.filter(({ ruleId }) => ruleId !== 'operation-4xx-response');
  expect(others.map(({ message }) => message)).toEqual([
    'Component: "RunEvent" is never used.',
    'Component: "RoutinePausedEvent" is never used.',
    'Component: "ActionEvent" is never used.',
    'Component: "QuestionEvent" is never used.',
    'Component: "WebhookTestEvent" is never used.',
  ]);
});

test.runIf(FULL_SIZE)('the linter is there: it finds an operation without a description and an example that is wrong', async () => {
  const broken = structuredClone(document());
  const operation = broken.paths['/health'].get;
  delete operation.description;
  broken.paths['/v1/models'].get.responses['200'].content['application/json'].example = 3;
  const { output } = await lint(broken);
  const rules = output.problems.map((problem) => problem.ruleId);
  expect(rules).toContain('operation-description');
  expect(rules).toContain('no-invalid-media-type-examples');
});

test('every operation documents every error it can respond with, each with its status, and none that cannot exist', () => {
  const { paths, components } = document();
  for (const { spec } of routes) {
    const url = spec.path.replaceAll(/:(\w+)/g, '{$1}');
    const responses: object = paths[url][spec.method.toLowerCase()].responses;
    const shown = Object.entries(responses).flatMap(([status, { $ref }]) => {
      if (Number(status) < 400) return [];
      const response = components.responses[$ref.split('/').at(-1)];
      const { schema, examples } = response.content['application/json'];
      expect(schema).toEqual({ $ref: '#/components/schemas/Failure' });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
      const codes = Object.keys(examples) as (keyof typeof ERRORS)[];
      for (const code of codes) expect(ERRORS[code][0], `${spec.id} ${code}`).toBe(Number(status));
      return codes;
    });
    expect(new Set(shown), spec.id).toEqual(new Set(errorsOf(spec)));
    expect(shown, spec.id).toHaveLength(errorsOf(spec).length);
  }
});

test('every code of the closed list is an error of some operation, but for those that need none', () => {
  const documented = new Set<string>(routes.flatMap(({ spec }) => errorsOf(spec)));
  const others = Object.keys(ERRORS).filter((code) => !documented.has(code));
  expect(others.toSorted()).toEqual(WITHOUT_OPERATION.toSorted());
});

/** Errors of requests that reach no operation. */
const WITHOUT_OPERATION: readonly ErrorCode[] = ['method_not_allowed', 'route_not_found'];

test('what operations share stands once: errors, and the parameters and headers that they have in common', () => {
  const { paths, components } = document();
  const operations: { parameters?: object[]; responses: object }[] = Object.values(paths).flatMap(
    (path) => Object.values(path as object),
  );
  const inPlace = operations.flatMap(({ parameters = [] }) =>
    parameters.filter((parameter) => !('$ref' in parameter)).map((each) => JSON.stringify(each)),
  );
  const often = [...Map.groupBy(inPlace, (each) => each)].filter(([, { length }]) => length > 2);
  expect(often).toEqual([]);
  const errors = operations.flatMap(({ responses }) =>
    Object.entries(responses).filter(([status]) => Number(status) >= 400),
  );
  expect(errors.filter(([, response]) => !('$ref' in response))).toEqual([]);
  expect(Object.keys(components.parameters)).toContain('X-Project-Id');
});

// oxlint-disable-next-line typescript/no-explicit-any -- the document as any reader of it sees it
function document(audience: Audience = 'all'): any {
  return buildOpenApi(routes, { publicUrl: 'https://api.acme.dev', productTag: 'ras', for: audience });
}

/** Runs the linter in a process of its own, without requests to other machines. */
async function lint(openapi: unknown): Promise<{ output: Report }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ras-openapi-'));
  try {
    const file = path.join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(openapi));
    const cli = createRequire(import.meta.url).resolve('@redocly/cli/package.json');
    const args = [
      path.join(path.dirname(cli), 'bin/cli.js'),
      'lint',
      file,
      `--config=${path.join(ROOT, 'redocly.yaml')}`,
      '--format=json',
      '--max-problems=1000',
    ];
    const env = {
      PATH: process.env['PATH'],
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    };
    // The linter exits with 1 when it finds faults; its report is on standard output.
    const { stdout } = await run(process.execPath, args, { cwd: ROOT, env }).catch(
      (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
    );
    return { output: JSON.parse(stdout) as Report };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Report {
  readonly totals: { readonly errors: number; readonly warnings: number };
  readonly problems: readonly {
    readonly ruleId: string;
    readonly message: string;
    readonly location: readonly { readonly pointer: string }[];
  }[];
}
