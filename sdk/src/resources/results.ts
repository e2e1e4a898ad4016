import type { Call } from '../call.ts';
import type { Pages } from '../pages.ts';
import type { Transport } from '../transport.ts';
import type { Body, CallOptions, Data, Item, Query } from '../types.ts';

/** Results of runs, and which of them the caller has read. */
export class Results {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(query: Query<'listResults'> = {}, options?: CallOptions): Pages<Item<'listResults'>> {
    return this.#transport.list('listResults', { ...options, query });
  }

  countUnread(options?: CallOptions): Call<Data<'countUnreadResults'>> {
    return this.#transport.send('countUnreadResults', options);
  }

  /** Counts the results of each day by kind. */
  countByDay(query: Query<'countResultsByDay'> = {}, options?: CallOptions): Call<Data<'countResultsByDay'>> {
    return this.#transport.send('countResultsByDay', { ...options, query });
  }

  /** Problems that need a person: failed or stopped routines, sign-ins, budgets. */
  attention(options?: CallOptions): Call<Data<'readAttention'>> {
    return this.#transport.send('readAttention', options);
  }

  markRead(body: Body<'markResultsRead'>, options?: CallOptions): Call<Data<'markResultsRead'>> {
    return this.#transport.send('markResultsRead', { ...options, body });
  }

  markUnread(body: Body<'markResultsUnread'>, options?: CallOptions): Call<Data<'markResultsUnread'>> {
    return this.#transport.send('markResultsUnread', { ...options, body });
  }
}

export class Schedules {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Shows the next times of an unsaved schedule. */
  preview(query: Query<'previewSchedule'>, options?: CallOptions): Call<Data<'previewSchedule'>> {
    return this.#transport.send('previewSchedule', { ...options, query });
  }

  /** Lists the times at which active routines fall due. */
  occurrences(query: Query<'listScheduledOccurrences'>, options?: CallOptions): Call<Data<'listScheduledOccurrences'>> {
    return this.#transport.send('listScheduledOccurrences', { ...options, query });
  }
}

export class Project {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Reads the project of the API key. */
  read(options?: CallOptions): Call<Data<'readOwnProject'>> {
    return this.#transport.send('readOwnProject', options);
  }
}

export class Usage {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Sums up the usage of the project. */
  read(query: Query<'readProjectUsage'> = {}, options?: CallOptions): Call<Data<'readProjectUsage'>> {
    return this.#transport.send('readProjectUsage', { ...options, query });
  }
}
