import { ROOMS, startChats, type ChatsFake, type Kind } from '#dev/fakes/chats/server.ts';
import type { ApiClient } from '#test/support/client.ts';
import type { Service } from '#test/support/service.ts';
import { mailingTest } from '../notifications/fixture.ts';

/** Makes tests with a service that sends mails, and posts to a fake in place of the chats. */
export function chatTest() {
  return mailingTest().extend('chats', { scope: 'file' }, async ({ service }, { onCleanup }) => {
    const chats = await startChats();
    divert(service, chats);
    onCleanup(() => chats.stop());
    return chats;
  });
}

function divert({ deps: { outbound } }: Service, chats: ChatsFake): void {
  const { request } = outbound;
  outbound.request = (options) => request({ ...options, url: chats.at(String(options.url)) ?? options.url });
}

/** Adds a chat to the project of the key. @returns its id */
export async function addChat(key: ApiClient, kind: Kind = 'slack'): Promise<string> {
  const { status, data } = await key.post('/v1/chats', { name: '#results', url: ROOMS[kind] });
  if (status !== 201) throw new Error(`the chat was not added: ${status}`);
  return data.id;
}
