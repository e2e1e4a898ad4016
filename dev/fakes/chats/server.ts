import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { discord, googleChat, slack, teams, type Reply } from './manners.ts';

/** A message that a room has accepted. */
export interface Posted {
  readonly kind: Kind;
  readonly body: unknown;
}

export type Kind = keyof typeof ROOMS;

/** The incoming webhook of the only room of each chat. */
export const ROOMS = {
  slack: 'https://hooks.slack.com/services/T0000/B0000/s3cretSlackToken',
  teams:
    'https://prod-12.westeurope.logic.azure.com/workflows/0a1b2c/triggers/manual/paths/invoke?api-version=2016-06-01&sig=s3cretTeams',
  discord: 'https://discord.com/api/webhooks/123456789/s3cretDiscordToken',
  google_chat: 'https://chat.googleapis.com/v1/spaces/AAAA/messages?key=aKey&token=s3cretGoogle',
} as const;

/** The chats, in the order of `ROOMS`. */
const KINDS = ['slack', 'teams', 'discord', 'google_chat'] as const;

const MANNERS = { slack, teams, discord, google_chat: googleChat } as const;

export interface ChatsFake {
  /** Returns the address of this server for an address of a chat; undefined for any other address. */
  at(address: string): string | undefined;
  readonly posted: Posted[];
  /** Sets the replies to the next requests. The messages of these requests are not read. */
  next(...replies: Reply[]): void;
  /** Deletes a room: its address is unknown from now on. */
  close(kind: Kind): void;
  reset(): void;
  stop(): Promise<void>;
}

/** Starts a server that accepts and refuses messages as Slack, Teams, Discord and Google Chat document it. */
export async function startChats(): Promise<ChatsFake> {
  const posted: Posted[] = [];
  const replies: Reply[] = [];
  const closed = new Set<Kind>();

  async function answer(request: IncomingMessage): Promise<Reply> {
    const text = await readText(request);
    const scripted = replies.shift();
    if (scripted !== undefined) return scripted;
    const [, host = '', ...rest] = (request.url ?? '').split('/');
    const address = `https://${host}/${rest.join('/')}`;
    const kind = kindAt(host);
    if (kind === undefined) return { status: 404 };
    const manner = MANNERS[kind];
    if (ROOMS[kind] !== address || closed.has(kind)) return manner.unknown;
    if (request.method !== 'POST') return { status: 405 };
    if (request.headers['content-type']?.startsWith('application/json') !== true) return manner.unread;
    const body = parsed(text);
    if (body === undefined || !manner.takes(body, Buffer.byteLength(text))) return manner.unread;
    posted.push({ kind, body });
    return manner.taken;
  }

  const server = createServer((request, response) => {
    void answer(request).then((reply) => send(response, reply));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const { port } = address;
  return {
    at(address) {
      const url = new URL(address);
      if (kindAt(url.host) === undefined) return undefined;
      return `http://127.0.0.1:${port}/${url.host}${url.pathname}${url.search}`;
    },
    posted,
    next: (...more) => void replies.push(...more),
    close: (kind) => void closed.add(kind),
    reset() {
      posted.length = 0;
      replies.length = 0;
      closed.clear();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function kindAt(host: string): Kind | undefined {
  return KINDS.find((kind) => new URL(ROOMS[kind]).host === host);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, { status, body = '', headers = {} }: Reply): void {
  response.writeHead(status, { 'content-type': body.startsWith('{') ? 'application/json' : 'text/plain', ...headers });
  response.end(body);
}
