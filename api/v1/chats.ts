import { z } from 'zod';
import { CHAT_KINDS } from '#core/clients/chats/index.ts';
import { redeliverToChat } from '#core/delivery/chats/index.ts';
import * as runs from '#core/execution/runs/index.ts';
import * as chats from '#core/integrations/chats/index.ts';
import { nameOf, timestamp } from '#lib/schemas.ts';
import { listReply } from '../http/links.ts';
import { present } from '../http/present.ts';
import { EXAMPLE, idOf, pageOf, pageQuery } from '../http/schemas.ts';
import { route, type Route } from '../route.ts';
import { presentRunDetail } from './runs/present.ts';
import { runDetail } from './runs/schemas.ts';

const tag = 'Connections';

const chat = z
  .strictObject({
    id: idOf('chat', EXAMPLE.chat),
    name: z.string(),
    kind: z.enum(CHAT_KINDS),
    host: z.string().meta({ description: 'The host of the address. The address itself is in no response.' }),
    goneAt: timestamp.nullable().meta({
      description:
        'Time since which the chat refuses the address for good; nothing is sent until the address is replaced.',
    }),
    goneReason: z.string().nullable().meta({ description: "The error in the chat's own words, or the HTTP status." }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Chat' });

const url = z.string().max(2_000).meta({
  description:
    'The address of an incoming webhook of Slack, Microsoft Teams, Discord or Google Chat, as the chat shows it.',
  example: 'https://discord.com/api/webhooks/1234567890/TOKEN',
});
const name = nameOf(100).meta({ example: '#marketing' });
const params = z.strictObject({ chatId: idOf('chat', EXAMPLE.chat) });

const listChats = route({
  method: 'GET',
  path: '/v1/chats',
  id: 'listChats',
  tag,
  summary: 'List the chats of the project',
  description: 'Rooms of chats that results can be sent to, see `resultsTo` of a routine.',
  auth: 'key-or-session',
  mcp: { toolset: 'connections' },
  scope: 'connections:read',
  query: pageQuery('chat', {}),
  success: { status: 200, data: z.array(chat), description: 'Newest first.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await chats.listChats(deps.database, access.projectId, page);
  return listReply(found, page, (each) => present(chat, each));
});

const createChat = route({
  method: 'POST',
  path: '/v1/chats',
  id: 'createChat',
  tag,
  summary: 'Add a chat',
  description:
    'The host of the address determines the kind of chat. The address is stored sealed. Nothing is sent; send a test message afterwards.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'connections:write',
  body: z.strictObject({ name, url }).meta({ id: 'CreateChat' }),
  idempotent: true,
  success: { status: 201, location: '/v1/chats/:id', data: chat, description: 'The chat.' },
  errors: ['limit_reached'],
}).to(async ({ access: { projectId }, by, body, deps, newId }) => ({
  data: present(chat, await chats.createChat(deps, by, { id: newId('chat'), projectId, ...body })),
}));

const readChat = route({
  method: 'GET',
  path: '/v1/chats/:chatId',
  id: 'readChat',
  tag,
  summary: 'Read a chat',
  auth: 'key-or-session',
  mcp: false,
  scope: 'connections:read',
  params,
  success: { status: 200, data: chat, description: 'The chat.' },
}).to(async ({ access, params: { chatId }, deps }) => ({
  data: present(chat, await chats.readChat(deps.database, access.projectId, chatId)),
}));

const updateChat = route({
  method: 'PATCH',
  path: '/v1/chats/:chatId',
  id: 'updateChat',
  tag,
  summary: 'Rename a chat or give it another address',
  description: 'A new address also clears `goneAt`. Routines keep the chat.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'connections:write',
  params,
  body: z.strictObject({ name: name.optional(), url: url.optional() }).meta({ id: 'UpdateChat' }),
  success: { status: 200, data: chat, description: 'The chat.' },
}).to(async ({ access: { projectId }, by, params: { chatId: id }, body, deps }) => ({
  data: present(chat, await chats.changeChat(deps, by, { id, projectId }, body)),
}));

const deleteChat = route({
  method: 'DELETE',
  path: '/v1/chats/:chatId',
  id: 'deleteChat',
  tag,
  summary: 'Delete a chat with its address',
  description: 'Results that wait for it are given up, and routines send it nothing more.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'connections:write',
  params,
  success: { status: 200, data: chat, description: 'The deleted chat.' },
}).to(async ({ access: { projectId }, by, params: { chatId: id }, deps }) => ({
  data: present(chat, await chats.deleteChat(deps, by, { id, projectId })),
}));

const testChat = route({
  method: 'POST',
  path: '/v1/chats/:chatId/test',
  id: 'testChat',
  tag,
  summary: 'Send a test message to a chat',
  description: 'The message is sent once and not recorded. A refusal does not stop the chat.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'connections:write',
  params,
  success: {
    status: 200,
    data: z
      .strictObject({
        delivered: z.boolean(),
        status: z.number().int().nullable().meta({ description: 'HTTP status of the response; null without one.' }),
        error: z.string().nullable().meta({ description: 'Why the message was not delivered.' }),
        responseExcerpt: z.string().nullable().meta({ description: 'The first 1 kB of the response.' }),
        durationMs: z.number().int(),
      })
      .meta({ id: 'ChatTest' }),
    description: 'What the chat responded.',
  },
}).to(async ({ access: { projectId }, params: { chatId: id }, deps }) => {
  const { verdict, status, error, responseExcerpt, durationMs } = await chats.sendTestMessage(deps, { projectId, id });
  return { data: { delivered: verdict.state === 'delivered', status, error, responseExcerpt, durationMs } };
});

const redeliverChat = route({
  method: 'POST',
  path: '/v1/runs/:runId/chat-deliveries/:deliveryId/redeliver',
  id: 'redeliverChat',
  tag: 'Runs',
  summary: 'Send a result to a chat again',
  description: 'Starts a new series of retries. A delivery that waits for its next attempt is sent at once.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'runs:write',
  params: z.strictObject({
    runId: idOf('run', EXAMPLE.run),
    deliveryId: idOf('chatDelivery', EXAMPLE.chatDelivery),
  }),
  idempotent: true,
  success: { status: 202, data: runDetail, description: 'The run with the delivery pending.' },
  errors: ['content_erased', 'routine_archived'],
}).to(async ({ access: { projectId }, params, deps }) => {
  await redeliverToChat(deps, { projectId, ...params });
  return { data: presentRunDetail(await runs.readRunDetail(deps, projectId, params.runId), deps.config) };
});

export const chatRoutes: readonly Route[] = [
  listChats,
  createChat,
  readChat,
  updateChat,
  deleteChat,
  testChat,
  redeliverChat,
];
