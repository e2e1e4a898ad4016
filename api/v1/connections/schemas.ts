import { z } from 'zod';
import {
  CONNECTION_AUTHS,
  CONNECTION_ERRORS,
  CONNECTION_KINDS,
  CONNECTION_STATES,
  type Connection,
  type StaticCredentials,
} from '#core/connections/index.ts';
import { EXAMPLE, idOf, iso, isoOrNull, nameOf, timestamp } from '../../http/schemas.ts';

const headerName = z
  .string()
  .max(100)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'not a header name')
  .refine((name) => !RESERVED.test(name), 'this header is set by the service');

/** Those that frame a request, and those that the protocol itself uses. */
const RESERVED =
  /^(accept|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*|origin|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent)$/i;

const headerValue = z
  .string()
  .min(1)
  .max(8_000)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'printable ASCII without spaces at the ends');

export const connectionBody = z
  .strictObject({
    name: nameOf(100).meta({ example: 'Analytics tools' }),
    url: z.string().max(2_000).meta({
      description: 'The MCP endpoint (Streamable HTTP) of the tool server.',
      example: 'https://tools.example.com/mcp',
    }),
    bearerToken: headerValue
      .optional()
      .meta({ description: 'Sent as `Authorization: Bearer`. Stored encrypted, never returned.' }),
    headers: z
      .record(headerName, headerValue)
      .refine((headers) => Object.keys(headers).length <= 20, 'at most 20 headers')
      .optional()
      .meta({
        description: 'Headers that authenticate requests. Stored encrypted, never returned.',
        example: { 'X-Api-Key': 'k-3f8a' },
      }),
  })
  .refine(
    ({ bearerToken, headers = {} }) =>
      bearerToken === undefined ||
      !Object.keys(headers).some((name) => /^authorization$/i.test(name)),
    { path: ['headers'], message: 'an Authorization header beside bearerToken' },
  )
  .meta({ id: 'CreateConnection' });

export const connection = z
  .strictObject({
    id: idOf('connection', EXAMPLE.connection),
    kind: z.enum(CONNECTION_KINDS),
    provider: z.string().nullable().meta({ description: 'Of a managed connection.' }),
    name: z.string(),
    url: z
      .string()
      .nullable()
      .meta({ description: 'The MCP endpoint, without the values of its query.' }),
    auth: z.enum(CONNECTION_AUTHS),
    accountLabel: z.string().nullable(),
    scopes: z.array(z.string()).meta({ description: 'Granted by the provider.' }),
    server: z
      .strictObject({
        name: z.string(),
        title: z.string().nullable(),
        version: z.string(),
        protocolVersion: z.string(),
      })
      .nullable()
      .meta({ description: 'What the tool server says of itself.' }),
    state: z.enum(CONNECTION_STATES),
    error: z
      .strictObject({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why the connection is not ready.' }),
    createdAt: timestamp,
    updatedAt: timestamp,
    checkedAt: timestamp.nullable().meta({ description: 'When its server last passed the check.' }),
  })
  .meta({ id: 'Connection' });

export const deletedConnection = z
  .strictObject({
    ...connection.shape,
    draftedRoutineIds: z
      .array(z.string())
      .meta({ description: 'Routines that used it and went back to draft.' }),
  })
  .meta({ id: 'DeletedConnection' });

export const connectionParams = z.strictObject({
  connectionId: idOf('connection', EXAMPLE.connection),
});

/** The credentials of a body as they are sealed, or null. */
export function credentialsOf(body: z.output<typeof connectionBody>): StaticCredentials | null {
  const { bearerToken, headers } = body;
  if (headers !== undefined && Object.keys(headers).length > 0) {
    const authorization =
      bearerToken === undefined ? {} : { Authorization: `Bearer ${bearerToken}` };
    return { kind: 'headers', headers: { ...headers, ...authorization } };
  }
  return bearerToken === undefined ? null : { kind: 'bearer', token: bearerToken };
}

export function presentConnection(row: Connection) {
  return {
    id: row.id,
    kind: row.kind,
    provider: row.provider,
    name: row.name,
    url: row.url === null ? null : withoutQueryValues(row.url),
    auth: row.auth,
    accountLabel: row.accountLabel,
    scopes: [...row.scopes],
    server:
      row.server === null
        ? null
        : {
            name: row.server.name,
            title: row.server.title,
            version: row.server.version,
            protocolVersion: row.server.protocolVersion,
          },
    state: row.state,
    error:
      row.publicError === null
        ? null
        : { code: row.publicError, message: CONNECTION_ERRORS[row.publicError] },
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
    checkedAt: isoOrNull(row.checkedAt),
  };
}

/** Some servers take their key in the query. */
function withoutQueryValues(url: string): string {
  const shown = new URL(url);
  for (const name of new Set(shown.searchParams.keys())) shown.searchParams.set(name, '…');
  return decodeURI(shown.href);
}
