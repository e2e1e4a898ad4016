import type { Call } from '../call.ts';
import {
  followRun,
  waitForEnd,
  type FollowOptions,
  type RunEvent,
  type RunTextEvent,
  type WaitOptions,
} from '../follow.ts';
import type { Pages } from '../pages.ts';
import type { Transport } from '../transport.ts';
import type { Body, CallOptions, CreateOptions, Data, Item, Query, ReadRunOptions, Shape } from '../types.ts';

/** Questions that runs have asked people. */
export class Questions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(query: Query<'listQuestions'> = {}, options?: CallOptions): Pages<Item<'listQuestions'>> {
    return this.#transport.list('listQuestions', { ...options, query });
  }

  read(questionId: string, options?: CallOptions): Call<Data<'readQuestion'>> {
    return this.#transport.send('readQuestion', { ...options, ids: [questionId] });
  }

  /** Answers the question, once. Later runs of its routine receive the answer. */
  answer(questionId: string, body: Body<'answerQuestion'>, options?: CreateOptions): Call<Data<'answerQuestion'>> {
    return this.#transport.send('answerQuestion', { ...options, ids: [questionId], body });
  }
}

export class Runs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(query: Query<'listRuns'> = {}, options?: CallOptions): Pages<Item<'listRuns'>> {
    return this.#transport.list('listRuns', { ...options, query });
  }

  /** Lists the last runs of each routine. */
  recent(query: Query<'listRecentRuns'> = {}, options?: CallOptions): Pages<Item<'listRecentRuns'>> {
    return this.#transport.list('listRecentRuns', { ...options, query });
  }

  read(runId: string, options?: ReadRunOptions): Call<Data<'readRun'>> {
    return this.#transport.send('readRun', { ...options, ids: [runId] });
  }

  /** Pins a run, which is then kept, or unpins it. */
  update(runId: string, body: Body<'updateRun'>, options?: CallOptions): Call<Data<'updateRun'>> {
    return this.#transport.send('updateRun', { ...options, ids: [runId], body });
  }

  /** Resolves with the run when it has ended. @throws {TimeoutError} */
  wait(runId: string, options?: WaitOptions): Promise<Shape<'RunDetail'>> {
    return waitForEnd(this.#transport, runId, options);
  }

  /**
   * Yields each state and each finished step until the run has ended; with `text`, also the text of the running step.
   */
  follow(
    runId: string,
    options: FollowOptions & { readonly text: true },
  ): AsyncGenerator<RunEvent | RunTextEvent, void, undefined>;
  follow(runId: string, options?: Omit<FollowOptions, 'text'>): AsyncGenerator<RunEvent, void, undefined>;
  follow(runId: string, options?: FollowOptions): AsyncGenerator<RunEvent | RunTextEvent, void, undefined> {
    return followRun(this.#transport, runId, options);
  }

  steps(runId: string, query: Query<'listRunSteps'> = {}, options?: CallOptions): Pages<Item<'listRunSteps'>> {
    return this.#transport.list('listRunSteps', { ...options, ids: [runId], query });
  }

  /** Compares the data of two runs of a routine. */
  diff(runId: string, query: Query<'diffRun'> = {}, options?: CallOptions): Call<Data<'diffRun'>> {
    return this.#transport.send('diffRun', { ...options, ids: [runId], query });
  }

  cancel(runId: string, options?: CallOptions): Call<Data<'cancelRun'>> {
    return this.#transport.send('cancelRun', { ...options, ids: [runId] });
  }

  /** Starts a new run with the inputs of this one. */
  retry(runId: string, options?: CreateOptions): Call<Data<'retryRun'>> {
    return this.#transport.send('retryRun', { ...options, ids: [runId] });
  }

  /** Says whether the run's result was useful, and why. */
  giveVerdict(runId: string, body: Body<'giveVerdict'>, options?: CallOptions): Call<Data<'giveVerdict'>> {
    return this.#transport.send('giveVerdict', { ...options, ids: [runId], body });
  }

  /** Asks about the run's result; the returned run answers. */
  followUp(runId: string, body: Body<'followUpRun'>, options?: CreateOptions): Call<Data<'followUpRun'>> {
    return this.#transport.send('followUpRun', { ...options, ids: [runId], body });
  }

  /** Makes a link that shows the result to everyone who has the link. Only this response has its address. */
  share(runId: string, body: Body<'createSharedLink'> = {}, options?: CreateOptions): Call<Data<'createSharedLink'>> {
    return this.#transport.send('createSharedLink', { ...options, ids: [runId], body });
  }

  /** Lists the valid links to the run's result. */
  links(runId: string, options?: CallOptions): Call<Data<'listSharedLinks'>> {
    return this.#transport.send('listSharedLinks', { ...options, ids: [runId] });
  }

  /** Ends a link. */
  deleteLink(runId: string, linkId: string, options?: CallOptions): Call<Data<'deleteSharedLink'>> {
    return this.#transport.send('deleteSharedLink', { ...options, ids: [runId, linkId] });
  }

  /** Reads the webhook event of the run. */
  event(runId: string, options?: CallOptions): Call<Data<'readRunEvent'>> {
    return this.#transport.send('readRunEvent', { ...options, ids: [runId] });
  }

  redeliverWebhook(runId: string, deliveryId: string, options?: CreateOptions): Call<Data<'redeliverWebhook'>> {
    return this.#transport.send('redeliverWebhook', { ...options, ids: [runId, deliveryId] });
  }

  redeliverChat(runId: string, deliveryId: string, options?: CreateOptions): Call<Data<'redeliverChat'>> {
    return this.#transport.send('redeliverChat', { ...options, ids: [runId, deliveryId] });
  }
}
