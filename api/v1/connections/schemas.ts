import { z } from 'zod';
import {
  CONNECTION_AUTHS,
  CONNECTION_ERRORS,
  CONNECTION_KINDS,
  CONNECTION_STATES,
  splitAddress,
  type Connection,
  type StaticCredentials,
} from '#core/integrations/connections/index.ts';
import { present } from '../../http/present.ts';
import { nameOf, timestamp } from '#lib/schemas.ts';
import { component, idOf, wordOf } from '../../http/schemas.ts';

/** Headers that frame a request, and headers of the protocol. */
const RESERVED = inAnyCase(
  '^(accept|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*|origin|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent)$',
);
const AUTHORIZATION = inAnyCase('^authorization$');

/** Spells out both cases, because patterns of JSON Schema have no flags. */
function inAnyCase(lower: string): RegExp {
  return new RegExp(lower.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`));
}

const headerName = z
  .string()
  .max(100)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'not a header name')
  .refine((name) => !RESERVED.test(name), 'this header is set by the service')
  .meta({ not: { pattern: RESERVED.source } });

const headerValue = z
  .string()
  .min(1)
  .max(8_000)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'printable ASCII without spaces at the ends');

const name = nameOf(100).meta({ example: 'Analytics tools' });
/** Matches an address without the characters that parsers of addresses drop or rewrite. */
const ADDRESS =
  // oxlint-disable-next-line no-control-regex -- the pattern excludes control characters
  /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s\\\u0000-\u001f\u007f-\u009f]+$/;

const url = z.string().max(2_000).regex(ADDRESS, 'enter an address that starts with https://, without spaces');
const headers = z
  .record(headerName, headerValue)
  .refine((given) => Object.keys(given).length <= 20, 'at most 20 headers')
  .meta({ maxProperties: 20 });

const credentialFields = {
  bearerToken: headerValue.optional().describe('Sent as `Authorization: Bearer`. Stored encrypted, never returned.'),
  headers: headers.optional().meta({
    description: 'Headers that authenticate requests. Stored encrypted, never returned.',
    example: { 'X-Api-Key': 'k-3f8a' },
  }),
};
interface CredentialFields {
  readonly bearerToken?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

function authenticatesOnce({ bearerToken, headers: given = {} }: CredentialFields): boolean {
  return bearerToken === undefined || !Object.keys(given).some((each) => AUTHORIZATION.test(each));
}

/** The condition of `authenticatesOnce` as JSON Schema, for readers of the document. */
const AUTHENTICATES_ONCE = {
  not: {
    required: ['bearerToken', 'headers'],
    properties: {
      bearerToken: {},
      headers: { not: { propertyNames: { not: { pattern: AUTHORIZATION.source } } } },
    },
  },
};

const TWICE = { path: ['headers'], message: 'give the credential once: bearerToken or an Authorization header' };

export const connectionBody = z
  .strictObject({
    name,
    url: url.meta({
      description:
        'The MCP endpoint (Streamable HTTP) of the tool server. The values of its query are stored encrypted.',
      example: 'https://tools.example.com/mcp',
    }),
    ...credentialFields,
  })
  .refine(authenticatesOnce, TWICE)
  .meta({ id: 'CreateConnection', ...AUTHENTICATES_ONCE });

export const connectionPatch = z
  .strictObject({
    name: name.optional(),
    url: url.optional().meta({
      description: 'The same address with another query, for servers that take their key in the query.',
      example: 'https://tools.example.com/mcp?api_key=k-3f8a',
    }),
    ...credentialFields,
    headers: headers
      .refine((given) => Object.keys(given).length > 0, 'at least one header')
      .optional()
      .meta({
        description: 'Replaces the present credentials, as `bearerToken` does.',
        minProperties: 1,
      }),
  })
  .refine(authenticatesOnce, TWICE)
  .meta({ id: 'UpdateConnection', ...AUTHENTICATES_ONCE });

export const connection = component('Connection', {
  id: idOf('connection'),
  kind: z.enum(CONNECTION_KINDS),
  provider: z.string().nullable().describe('Provider of a managed connection.'),
  name: z.string(),
  url: z.string().nullable().describe('The MCP endpoint; values of its query are `[redacted]`.'),
  auth: z.enum(CONNECTION_AUTHS),
  accountLabel: z.string().nullable(),
  scopes: z.array(z.string()).describe('Scopes that the provider granted.'),
  server: z
    .strictObject({
      name: z.string(),
      title: z.string().nullable(),
      version: z.string(),
      protocolVersion: z.string(),
    })
    .nullable()
    .describe('The description that the tool server gives of itself.'),
  state: z.enum(CONNECTION_STATES),
  error: z
    .strictObject({ code: wordOf(CONNECTION_ERRORS), message: z.string() })
    .nullable()
    .describe('Why the connection is not ready.'),
  createdAt: timestamp,
  updatedAt: timestamp,
  checkedAt: timestamp.nullable().describe('When the server last passed the check.'),
});

export const deletedConnection = component('DeletedConnection', {
  ...connection.shape,
  draftedRoutineIds: z.array(z.string()).describe('Routines that went back to draft.'),
});

export const connectionParams = z.strictObject({
  connectionId: idOf('connection'),
});

/** Returns the credentials of a body in their stored form, or null. */
export function credentialsOf(body: CredentialFields): StaticCredentials | null {
  const { bearerToken, headers: given } = body;
  if (given !== undefined && Object.keys(given).length > 0) {
    const authorization = bearerToken === undefined ? {} : { Authorization: `Bearer ${bearerToken}` };
    return { kind: 'headers', headers: { ...given, ...authorization } };
  }
  return bearerToken === undefined ? null : { kind: 'bearer', token: bearerToken };
}

export function presentConnection(row: Connection) {
  const { url, publicError: code } = row;
  return present(connection, {
    ...row,
    url: url === null ? null : splitAddress(url).shown,
    error: code === null ? null : { code, message: CONNECTION_ERRORS[code] },
  });
}
