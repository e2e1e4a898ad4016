import type { Call } from '../call.ts';
import type { Pages } from '../pages.ts';
import type { Transport } from '../transport.ts';
import type { Body, CallOptions, CreateOptions, Data, Item, Query } from '../types.ts';

/** Rooms of chats that results are sent to. */
export class Chats {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(query: Query<'listChats'> = {}, options?: CallOptions): Pages<Item<'listChats'>> {
    return this.#transport.list('listChats', { ...options, query });
  }

  create(body: Body<'createChat'>, options?: CreateOptions): Call<Data<'createChat'>> {
    return this.#transport.send('createChat', { ...options, body });
  }

  read(chatId: string, options?: CallOptions): Call<Data<'readChat'>> {
    return this.#transport.send('readChat', { ...options, ids: [chatId] });
  }

  /** Renames the chat, or gives it another address. */
  update(chatId: string, body: Body<'updateChat'>, options?: CallOptions): Call<Data<'updateChat'>> {
    return this.#transport.send('updateChat', { ...options, ids: [chatId], body });
  }

  delete(chatId: string, options?: CallOptions): Call<Data<'deleteChat'>> {
    return this.#transport.send('deleteChat', { ...options, ids: [chatId] });
  }

  /** Sends a test message, without retries. */
  test(chatId: string, options?: CallOptions): Call<Data<'testChat'>> {
    return this.#transport.send('testChat', { ...options, ids: [chatId] });
  }
}
