import type { Call } from '../call.ts';
import type { Pages } from '../pages.ts';
import type { Transport } from '../transport.ts';
import type { CallOptions, Data, Item, Query } from '../types.ts';

/** Models that routines can use. */
export class Models {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(options?: CallOptions): Call<Data<'listModels'>> {
    return this.#transport.send('listModels', options);
  }

  /** Lists the sources of models and their states. */
  sources(options?: CallOptions): Call<Data<'listModelSources'>> {
    return this.#transport.send('listModelSources', options);
  }
}

/** Personal accounts at model providers; they are connected in the dashboard. */
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

  /** Reads the provider whose accounts use an API key. */
  keyProvider(options?: CallOptions): Call<Data<'readKeyProvider'>> {
    return this.#transport.send('readKeyProvider', options);
  }
}
