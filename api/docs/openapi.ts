import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { PLANS } from '#core/accounts/billing/index.ts';
import { sessionCookieName } from '#core/accounts/identity/index.ts';
import { isJsonObject } from '#lib/json.ts';
import { authOperations } from '../auth/operations.ts';
import { type Route, TAGS } from '../route.ts';
import { authPaths } from './auth.ts';
import { webhooks } from './webhooks.ts';
import { withLeanSchemas, withoutForms } from './lean.ts';
import { pascal, withNamedSchemas } from './named-schemas.ts';
import { operation } from './operation.ts';
import { withSharedParts } from './shared-parts.ts';
import { type Audience, HEADERS } from './responses.ts';

export interface DocumentOptions {
  readonly publicUrl: string;
  readonly productTag: string;
  /**
   * `keys` leaves out operations that an API key may not call, and names the errors of an operation in its description.
   */
  readonly for?: Audience | undefined;
}

/** Builds the OpenAPI 3.1 document of the declared routes: schemas, security and every error of every operation. */
export function buildOpenApi(routes: readonly Route[], { for: audience = 'all', ...options }: DocumentOptions) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  const described = audience === 'keys' ? routes.filter(({ spec }) => spec.auth === 'key-or-session') : routes;
  for (const { spec } of described) {
    const path = spec.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [spec.method.toLowerCase()]: operation(spec, audience) };
  }
  const tags = new Set<string>(described.map(({ spec }) => spec.tag));
  const document = createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Routine Automation Service',
      version: '1.0.0',
      description: audience === 'all' ? DESCRIPTION : `${DESCRIPTION}\n\n${RESPONSE_HEADERS}`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.publicUrl }],
    tags: Object.entries(TAGS)
      .filter(([name]) => audience === 'all' || tags.has(name))
      .map(([name, description]) => ({ name, description })),
    paths: { ...paths, ...(audience === 'all' && authPaths(authOperations)) },
    webhooks: webhooks(),
    components: {
      headers: HEADERS,
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of one project.' },
        ...(audience === 'all' && sessionSchemes(options)),
      },
    },
  });
  const exact = audience === 'all' ? withStorableText(document) : withoutForms(document);
  const named = withNamedSchemas(withSharedParameters(exact));
  if (audience === 'all') return withoutUnused(named);
  const { webhooks: _, ...lean } = withoutUnused(withSharedParts(withLeanSchemas(named)));
  // The schemas of events stay, because some generators drop schemas that only webhooks use.
  return lean;
}

/** Ways to authenticate without an API key. */
function sessionSchemes(options: Pick<DocumentOptions, 'publicUrl' | 'productTag'>) {
  return {
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookieName(options),
      description: 'The session of a sign-in at `/auth`. Mutations also need `Origin`.',
    },
    uiOrigin: {
      type: 'apiKey',
      in: 'header',
      name: 'Origin',
      description: 'The origin of the user interface; no account is needed.',
    },
    stripeSignature: {
      type: 'apiKey',
      in: 'header',
      name: 'Stripe-Signature',
      description: 'The signature of the payment processor over the raw body.',
    },
    schedulerSecret: { type: 'apiKey', in: 'header', name: 'X-Scheduler-Secret' },
  } as const;
}

const writers = Object.entries(PLANS).flatMap(([name, plan]) => (plan.apiWrites ? [name] : []));

const DESCRIPTION = `Recurring work for language models: scheduled, recorded step by step, durable.

Every success is \`{data, requestId}\`, every failure \`{error: {code, message}, requestId}\`.
With \`Prefer: error-details\` a failure lists each fault of the request.
Lists are newest first; the next page is in the \`Link\` header, and with \`page=body\` in the body. Times are RFC 3339 in UTC.
API keys read on every plan and write on: ${writers.join(', ')}.`;

/**
 * Describes the headers of responses once, in the document for holders of keys, because generated clients do not read
 * headers.
 */
const RESPONSE_HEADERS = `Responses have \`X-Request-Id\`, \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`. A resource
with versions has an \`ETag\` for \`If-Match\`, a created one a \`Location\`. \`Idempotent-Replayed: true\` marks a repeated response,
and \`Preference-Applied\` a preference that was honoured.`;

type Document = ReturnType<typeof createDocument>;

/** Parameters that at least this many operations share are declared once. */
const SHARED_FROM = 3;

/**
 * Moves parameters that operations share into `components`, each under its own name. If parameters of one name differ,
 * the form used most keeps the name, and the other forms get a number.
 */
function withSharedParameters(document: Document): Document {
  const operations = Object.values(document.paths ?? {})
    .flatMap((path) => [path.get, path.post, path.put, path.patch, path.delete])
    .filter((operation) => operation !== undefined);
  const parameters = operations
    .flatMap((operation) => operation.parameters ?? [])
    .filter((parameter) => 'name' in parameter);
  const byForm = [...Map.groupBy(parameters, (parameter) => JSON.stringify(parameter))]
    .filter(([, { length }]) => length >= SHARED_FROM)
    .toSorted(([, a], [, b]) => b.length - a.length)
    .flatMap(([form, [one]]) => (one === undefined ? [] : [{ form, one }]));
  const named = [...Map.groupBy(byForm, ({ one }) => one.name)].flatMap(([name, sharing]) =>
    sharing.map((each, at) => {
      // Generators name types after parameters and schemas, so numbers begin with 2 if a schema has the name.
      const number = at + (pascal(name) in (document.components?.schemas ?? {}) ? 2 : 1);
      return { ...each, name: number === 1 ? name : `${name}-${number}` };
    }),
  );
  const forms = new Map(named.map(({ form, name }) => [form, name]));
  for (const operation of operations) {
    operation.parameters &&= operation.parameters.map((parameter) => {
      const name = forms.get(JSON.stringify(parameter));
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` };
    });
  }
  document.components = {
    ...document.components,
    parameters: Object.fromEntries(named.map(({ name, one }) => [name, one])),
  };
  return document;
}

/** Drops the components that nothing refers to, then those that only a dropped component referred to. */
function withoutUnused(document: Document): Document {
  const { securitySchemes: _, ...kinds } = document.components ?? {};
  const text = JSON.stringify(document);
  let isDropped = false;
  for (const [kind, components] of Object.entries(kinds)) {
    for (const name of Object.keys(components ?? {})) {
      if (text.includes(`"#/components/${kind}/${name}"`)) continue;
      Reflect.deleteProperty(components ?? {}, name);
      isDropped = true;
    }
  }
  return isDropped ? withoutUnused(document) : document;
}

/** Pattern of every text in a request: Postgres stores no NUL, so the parser refuses it. */
const STORABLE = String.raw`^[^\u0000]*$`;

const UNIONS = ['anyOf', 'oneOf', 'allOf'];

/** Keywords of schemas that need no pattern. They exclude a NUL already; the target of a `$ref` is visited itself. */
const EXACT = ['pattern', 'enum', 'const', 'format', '$ref'];

/**
 * Declares in the finished document that every request refuses a NUL in a text. Texts with a pattern or a closed list
 * of values exclude it already.
 */
function withStorableText<D extends object>(document: D): D {
  const requests = new Set<unknown>();
  const schemas = member(member(document, 'components'), 'schemas');
  const visit = (schema: unknown): void => {
    if (Array.isArray(schema)) return schema.forEach(visit);
    if (!isJsonObject(schema) || requests.has(schema)) return undefined;
    requests.add(schema);
    const { $ref: ref } = schema;
    if (typeof ref === 'string') visit(member(schemas, ref.split('/').at(-1) ?? ''));
    const isExact = EXACT.some((keyword) => keyword in schema) && schema['format'] !== 'password';
    if (schema['type'] === 'string' && !isExact) {
      Object.assign(schema, { pattern: STORABLE });
    }
    for (const keyword of ['items', 'additionalProperties', 'propertyNames', ...UNIONS]) {
      visit(schema[keyword]);
    }
    Object.values(member(schema, 'properties') ?? {}).forEach(visit);
    return undefined;
  };
  for (const path of Object.values(member(document, 'paths') ?? {})) {
    for (const operation of isJsonObject(path) ? Object.values(path) : []) {
      const { parameters = [] } = isJsonObject(operation) ? operation : {};
      if (Array.isArray(parameters)) parameters.forEach((each) => visit(member(each, 'schema')));
      const content = member(member(operation, 'requestBody'), 'content');
      visit(member(member(content, 'application/json'), 'schema'));
    }
  }
  return document;
}

function member(value: unknown, name: string): Readonly<Record<string, unknown>> | undefined {
  const found = isJsonObject(value) ? value[name] : undefined;
  return isJsonObject(found) ? found : undefined;
}
