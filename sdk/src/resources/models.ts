import type { Call } from '../call.ts';
import type { Pages } from '../pages.ts';
import type { Transport } from '../transport.ts';
import type { CallOptions, Data, Item, Query } from '../types.ts';

/** What routines can run on. */
export class Models {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(options?: CallOptions): Call<Data<'listModels'>> {
    return this.#transport.send('listModels', options);
  }

  /** The places that models come from, and how each is. */
  sources(options?: CallOptions): Call<Data<'listModelSources'>> {
    return this.#transport.send('listModelSources', options);
  }
}

/** People's own accounts at model providers; they are connected in the dashboard. */
export class ModelAccounts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(query: Query<'listModelConnections'> = {}, options?: CallOptions): Pages<Item<'listModelConnections'>> {
    return this.#transport.list('listModelConnections', { ...options, query });
  }

  models(connectionId: string, options?: CallOptions): Call<Data<'listAccountModels'>> {
    return this.#transport.send('listAccountModels', { ...options, ids: [connectionId] });
  }

  providers(options?: CallOptions): Call<Data<'listModelProviders'>> {
    return this.#transport.send('listModelProviders', options);
  }

  /** The provider whose accounts are connected by an API key. */
  keyProvider(options?: CallOptions): Call<Data<'readKeyProvider'>> {
    return this.#transport.send('readKeyProvider', options);
  }
}
