import { redirect, type Behaviour } from './exchange.ts';

/** Servers that refuse every caller before the list of tools. */
export const CLOSED_DOORS = {
  redirect: ({ response }) => redirect(response),
  'sign-in': ({ response }) =>
    void response.writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://example.com/meta"' }).end(),
  silent: () => undefined,
  failing: ({ response }) => void response.writeHead(500).end('canary-of-the-server'),
  'not-mcp': ({ response }) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>canary-of-the-server</h1>'),
} satisfies Record<string, Behaviour>;
