import { z } from 'zod';
import { CHAT_KINDS } from '#core/clients/chats/index.ts';
import { redeliverToChat } from '#core/delivery/chats/index.ts';
import * as runs from '#core/execution/runs/index.ts';
import * as chats from '#core/integrations/chats/index.ts';
import { nameOf, timestamp } from '#lib/schemas.ts';
import { listReply } from '../http/links.ts';
import { present } from '../http/present.ts';
import { component, idOf, pageOf, pageQuery } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';
import { presentRunDetail } from './runs/present.ts';
import { runDetail } from './runs/schemas.ts';

const route = routesOf('Connections');

const chat = component('Chat', {
  id: idOf('chat'),
  name: z.string(),
  kind: z.enum(CHAT_KINDS),
  host: z.string().describe('The host of the address. The address itself is in no response.'),
  goneAt: timestamp
    .nullable()
    .describe('Time since which the chat refuses the address for good; nothing is sent until the address is replaced.'),
  goneReason: z.string().nullable().describe("The error in the chat's own words, or the HTTP status."),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const url = z.string().max(2_000).meta({
  description:
    'The address of an incoming webhook of Slack, Microsoft Teams, Discord or Google Chat, as the chat shows it.',
  example: 'https://discord.com/api/webhooks/1234567890/TOKEN',
});
const name = nameOf(100).meta({ example: '#marketing' });
const params = z.strictObject({ chatId: idOf('chat') });

const listChats = route('GET /v1/chats', {
  id: 'listChats',
  summary: 'List the chats of the project',
  description: 'Rooms of chats that results can be sent to, see `resultsTo` of a routine.',
  mcp: { toolset: 'connections' },
  scope: 'connections:read',
  query: pageQuery('chat', {}),
  success: { data: z.array(chat), description: 'Newest first.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await chats.listChats(deps.database, access.projectId, page);
  return listReply(found, page, (each) => present(chat, each));
});

const createChat = route('POST /v1/chats', {
  id: 'createChat',
  summary: 'Add a chat',
  description:
    'The host of the address determines the kind of chat. The address is stored sealed. Nothing is sent; send a test message afterwards.',
  scope: 'connections:write',
  body: component('CreateChat', { name, url }),
  idempotent: true,
  success: { status: 201, location: '/v1/chats/:id', data: chat, description: 'The chat.' },
  errors: ['limit_reached'],
}).to(async ({ access: { projectId }, by, body, deps, newId }) => ({
  data: present(chat, await chats.createChat(deps, by, { id: newId('chat'), projectId, ...body })),
}));

const readChat = route('GET /v1/chats/:chatId', {
  id: 'readChat',
  summary: 'Read a chat',
  scope: 'connections:read',
  params,
  success: { data: chat, description: 'The chat.' },
}).to(async ({ access, params: { chatId }, deps }) => ({
  data: present(chat, await chats.readChat(deps.database, access.projectId, chatId)),
}));

const updateChat = route('PATCH /v1/chats/:chatId', {
  id: 'updateChat',
  summary: 'Rename a chat or give it another address',
  description: 'A new address also clears `goneAt`. Routines keep the chat.',
  scope: 'connections:write',
  params,
  body: component('UpdateChat', { name: name.optional(), url: url.optional() }),
  success: { data: chat, description: 'The chat.' },
}).to(async ({ access: { projectId }, by, params: { chatId: id }, body, deps }) => ({
  data: present(chat, await chats.changeChat(deps, by, { id, projectId }, body)),
}));

const deleteChat = route('DELETE /v1/chats/:chatId', {
  id: 'deleteChat',
  summary: 'Delete a chat with its address',
  description: 'Results that wait for the chat are given up, and routines send nothing more to it.',
  scope: 'connections:write',
  params,
  success: { data: chat, description: 'The deleted chat.' },
}).to(async ({ access: { projectId }, by, params: { chatId: id }, deps }) => ({
  data: present(chat, await chats.deleteChat(deps, by, { id, projectId })),
}));

const testChat = route('POST /v1/chats/:chatId/test', {
  id: 'testChat',
  summary: 'Send a test message to a chat',
  description: 'The message is sent once and not recorded. A refusal does not stop the chat.',
  scope: 'connections:write',
  params,
  success: {
    data: component('ChatTest', {
      delivered: z.boolean(),
      status: z.number().int().nullable().describe('HTTP status of the response; null without one.'),
      error: z.string().nullable().describe('Why the message was not delivered.'),
      responseExcerpt: z.string().nullable().describe('The first 1 kB of the response.'),
      durationMs: z.number().int(),
    }),
    description: 'What the chat responded.',
  },
}).to(async ({ access: { projectId }, params: { chatId: id }, deps }) => {
  const { verdict, status, error, responseExcerpt, durationMs } = await chats.sendTestMessage(deps, { projectId, id });
  return { data: { delivered: verdict.state === 'delivered', status, error, responseExcerpt, durationMs } };
});

const redeliverChat = route('POST /v1/runs/:runId/chat-deliveries/:deliveryId/redeliver', {
  id: 'redeliverChat',
  tag: 'Runs',
  summary: 'Send a result to a chat again',
  description: 'Starts a new series of retries. A delivery that waits for its next attempt is sent at once.',
  scope: 'runs:write',
  params: z.strictObject({
    runId: idOf('run'),
    deliveryId: idOf('chatDelivery'),
  }),
  idempotent: true,
  success: { status: 202, data: runDetail, description: 'The run. The delivery is pending again.' },
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
