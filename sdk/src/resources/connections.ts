import type { Call } from '../call.ts';
import type { Pages } from '../pages.ts';
import type { Transport } from '../transport.ts';
import type { Body, CallOptions, CreateOptions, Data, Item, Query } from '../types.ts';

/** Tool servers, and accounts at managed providers. */
export class Connections {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(query: Query<'listConnections'> = {}, options?: CallOptions): Pages<Item<'listConnections'>> {
    return this.#transport.list('listConnections', { ...options, query });
  }

  create(body: Body<'createConnection'>, options?: CreateOptions): Call<Data<'createConnection'>> {
    return this.#transport.send('createConnection', { ...options, body });
  }

  read(connectionId: string, options?: CallOptions): Call<Data<'readConnection'>> {
    return this.#transport.send('readConnection', { ...options, ids: [connectionId] });
  }

  update(connectionId: string, body: Body<'updateConnection'>, options?: CallOptions): Call<Data<'updateConnection'>> {
    return this.#transport.send('updateConnection', { ...options, ids: [connectionId], body });
  }

  delete(connectionId: string, options?: CallOptions): Call<Data<'deleteConnection'>> {
    return this.#transport.send('deleteConnection', { ...options, ids: [connectionId] });
  }

  /** Lists the managed providers. */
  providers(options?: CallOptions): Call<Data<'listConnectionProviders'>> {
    return this.#transport.send('listConnectionProviders', options);
  }

  /** Connects an account at a managed provider that takes keys, or replaces its key. */
  connectWithApiKey(
    provider: string,
    body: Body<'connectWithApiKey'>,
    options?: CreateOptions,
  ): Call<Data<'connectWithApiKey'>> {
    return this.#transport.send('connectWithApiKey', { ...options, ids: [provider], body });
  }

  accounts(connectionId: string, options?: CallOptions): Call<Data<'listConnectionAccounts'>> {
    return this.#transport.send('listConnectionAccounts', { ...options, ids: [connectionId] });
  }
}

/** Tools of a routine, and their policies. */
export class Tools {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Discovers the tools of a connection. */
  discover(routineId: string, connectionId: string, options?: CallOptions): Call<Data<'discoverTools'>> {
    return this.#transport.send('discoverTools', { ...options, ids: [routineId, connectionId] });
  }

  list(routineId: string, query: Query<'listTools'> = {}, options?: CallOptions): Pages<Item<'listTools'>> {
    return this.#transport.list('listTools', { ...options, ids: [routineId], query });
  }

  update(
    routineId: string,
    policyId: string,
    body: Body<'updateToolPolicy'>,
    options?: CallOptions,
  ): Call<Data<'updateToolPolicy'>> {
    return this.#transport.send('updateToolPolicy', {
      ...options,
      ids: [routineId, policyId],
      body,
    });
  }

  /** Lists the standing rules of a held tool. */
  rules(
    routineId: string,
    policyId: string,
    query: Query<'listToolRules'> = {},
    options?: CallOptions,
  ): Pages<Item<'listToolRules'>> {
    return this.#transport.list('listToolRules', { ...options, ids: [routineId, policyId], query });
  }

  /** Creates a standing rule: calls that it covers need no approval by a person. */
  createRule(
    routineId: string,
    policyId: string,
    body: Body<'createToolRule'>,
    options?: CreateOptions,
  ): Call<Data<'createToolRule'>> {
    return this.#transport.send('createToolRule', { ...options, ids: [routineId, policyId], body });
  }

  revokeRule(routineId: string, policyId: string, ruleId: string, options?: CallOptions): Call<Data<'deleteToolRule'>> {
    return this.#transport.send('deleteToolRule', { ...options, ids: [routineId, policyId, ruleId] });
  }
}
