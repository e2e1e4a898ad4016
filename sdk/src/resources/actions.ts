import type { Call } from '../call.ts';
import type { Pages } from '../pages.ts';
import type { Transport } from '../transport.ts';
import type { Body, CallOptions, Data, Item, Query } from '../types.ts';

export interface ApproveOptions extends CallOptions {
  /** The `digest` of the action that was seen: after a change the call fails with `ConflictError`. */
  readonly digest: string;
}

/** Held calls of tools, which wait for a person. */
export class Actions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(query: Query<'listActions'> = {}, options?: CallOptions): Pages<Item<'listActions'>> {
    return this.#transport.list('listActions', { ...options, query });
  }

  read(actionId: string, options?: CallOptions): Call<Data<'readAction'>> {
    return this.#transport.send('readAction', { ...options, ids: [actionId] });
  }

  /** Approves the call, which is then sent once, as it was seen or with `body.arguments`. */
  approve(
    actionId: string,
    { digest, ...options }: ApproveOptions,
    body: Body<'approveAction'> = {},
  ): Call<Data<'approveAction'>> {
    return this.#transport.send('approveAction', { ...options, ids: [actionId], body, ifMatch: `"${digest}"` });
  }

  reject(actionId: string, body: Body<'rejectAction'> = {}, options?: CallOptions): Call<Data<'rejectAction'>> {
    return this.#transport.send('rejectAction', { ...options, ids: [actionId], body });
  }

  /** Approves several actions. Each has a result of its own. */
  approveAll(body: Body<'approveActions'>, options?: CallOptions): Call<Data<'approveActions'>> {
    return this.#transport.send('approveActions', { ...options, body });
  }

  rejectAll(body: Body<'rejectActions'>, options?: CallOptions): Call<Data<'rejectActions'>> {
    return this.#transport.send('rejectActions', { ...options, body });
  }
}
