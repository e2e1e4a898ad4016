import type { Call } from '../call.ts';
import { waitForEnd, type WaitOptions } from '../follow.ts';
import type { Pages } from '../pages.ts';
import type { Transport } from '../transport.ts';
import type {
  Body,
  CallOptions,
  ChangeOptions,
  CreateOptions,
  Data,
  Item,
  PutOptions,
  Query,
  Shape,
} from '../types.ts';

export interface Wait {
  /** Resolves when the run has ended, and not when it is queued; `true` waits without a limit. */
  readonly wait: true | WaitOptions;
}

export class Routines {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(query: Query<'listRoutines'> = {}, options?: CallOptions): Pages<Item<'listRoutines'>> {
    return this.#transport.list('listRoutines', { ...options, query });
  }

  /** Saves a draft. */
  create(body: Body<'createRoutine'>, options?: CreateOptions): Call<Data<'createRoutine'>> {
    return this.#transport.send('createRoutine', { ...options, body });
  }

  read(routineId: string, options?: CallOptions): Call<Data<'readRoutine'>> {
    return this.#transport.send('readRoutine', { ...options, ids: [routineId] });
  }

  /** Changes the fields that are given; a material change makes the routine a draft again. */
  update(routineId: string, body: Body<'updateRoutine'>, options?: ChangeOptions): Call<Data<'updateRoutine'>> {
    return this.#transport.send('updateRoutine', { ...options, ids: [routineId], body });
  }

  /** Creates the routine of a key of yours, or replaces it; fields that are left out take their defaults. */
  put(externalKey: string, body: Body<'putRoutine'>, options?: PutOptions): Call<Data<'putRoutine'>> {
    return this.#transport.send('putRoutine', { ...options, ids: [externalKey], body });
  }

  /** A number of each item of its data over its runs. */
  series(routineId: string, query: Query<'readSeries'> = {}, options?: CallOptions): Call<Data<'readSeries'>> {
    return this.#transport.send('readSeries', { ...options, ids: [routineId], query });
  }

  /** Lists everything that saving a routine would refuse, and saves nothing. */
  check(body: Body<'checkRoutine'>, options?: CallOptions): Call<Data<'checkRoutine'>> {
    return this.#transport.send('checkRoutine', { ...options, body });
  }

  /** Ends the routine until it is restored; its runs stay. */
  archive(routineId: string, options?: CallOptions): Call<Data<'archiveRoutine'>> {
    return this.#transport.send('archiveRoutine', { ...options, ids: [routineId] });
  }

  /** Takes the routine out of the archive, as a draft. */
  restoreArchived(routineId: string, options?: CallOptions): Call<Data<'restoreRoutine'>> {
    return this.#transport.send('restoreRoutine', { ...options, ids: [routineId] });
  }

  /** Starts the schedule, of a routine that has run successfully as it is now. */
  activate(
    routineId: string,
    body: Body<'activateRoutine'> = {},
    options?: CallOptions,
  ): Call<Data<'activateRoutine'>> {
    return this.#transport.send('activateRoutine', { ...options, ids: [routineId], body });
  }

  pause(routineId: string, body: Body<'pauseRoutine'> = {}, options?: CallOptions): Call<Data<'pauseRoutine'>> {
    return this.#transport.send('pauseRoutine', { ...options, ids: [routineId], body });
  }

  /** Starts a run by hand. */
  run(routineId: string, body: Body<'runRoutine'> & Wait, options?: CreateOptions): Promise<Shape<'RunDetail'>>;
  run(routineId: string, body?: Body<'runRoutine'>, options?: CreateOptions): Call<Data<'runRoutine'>>;
  run(
    routineId: string,
    { wait, ...body }: Body<'runRoutine'> & Partial<Wait> = {},
    options: CreateOptions = {},
  ): Call<Data<'runRoutine'>> | Promise<Shape<'RunDetail'>> {
    const call = this.#transport.send('runRoutine', { ...options, ids: [routineId], body });
    if (wait === undefined) return call;
    const { signal } = options;
    return call.then<Shape<'RunDetail'>>(({ id }) =>
      waitForEnd(this.#transport, id, { signal, ...(wait === true ? {} : wait) }),
    );
  }

  /** The runs of the routine, newest first. */
  runs(routineId: string, query: Query<'listRoutineRuns'> = {}, options?: CallOptions): Pages<Item<'listRoutineRuns'>> {
    return this.#transport.list('listRoutineRuns', { ...options, ids: [routineId], query });
  }

  /** Shows what a run would be told and offered now, without one. */
  preview(routineId: string, body: Body<'previewRoutine'> = {}, options?: CallOptions): Call<Data<'previewRoutine'>> {
    return this.#transport.send('previewRoutine', { ...options, ids: [routineId], body });
  }

  /** Forecasts what the routine uses in the next 30 days. */
  forecast(routineId: string, options?: CallOptions): Call<Data<'readRoutineForecast'>> {
    return this.#transport.send('readRoutineForecast', { ...options, ids: [routineId] });
  }

  /** Makes runs for past times of the schedule. */
  backfill(routineId: string, body: Body<'backfillRoutine'>, options?: CreateOptions): Call<Data<'backfillRoutine'>> {
    return this.#transport.send('backfillRoutine', { ...options, ids: [routineId], body });
  }

  /** Forecasts what a backfill would use. */
  forecastBackfill(
    routineId: string,
    query: Query<'forecastBackfill'>,
    options?: CallOptions,
  ): Call<Data<'forecastBackfill'>> {
    return this.#transport.send('forecastBackfill', { ...options, ids: [routineId], query });
  }

  versions(
    routineId: string,
    query: Query<'listRoutineVersions'> = {},
    options?: CallOptions,
  ): Pages<Item<'listRoutineVersions'>> {
    return this.#transport.list('listRoutineVersions', { ...options, ids: [routineId], query });
  }

  version(routineId: string, revision: number, options?: CallOptions): Call<Data<'readRoutineVersion'>> {
    return this.#transport.send('readRoutineVersion', { ...options, ids: [routineId, revision] });
  }

  /** Saves what a version said as a new one. */
  restore(routineId: string, revision: number, options?: CreateOptions): Call<Data<'restoreRoutineVersion'>> {
    return this.#transport.send('restoreRoutineVersion', {
      ...options,
      ids: [routineId, revision],
    });
  }

  /** Makes another webhook secret; both sign for 24 hours. It is null where the response that had it was lost. */
  rotateWebhookSecret(
    routineId: string,
    body: Body<'rotateWebhookSecret'> = {},
    options?: CreateOptions,
  ): Call<Data<'rotateWebhookSecret'>> {
    return this.#transport.send('rotateWebhookSecret', { ...options, ids: [routineId], body });
  }

  /** Sends one test event to the webhook and returns what its receiver said. */
  testWebhook(routineId: string, options?: CallOptions): Call<Data<'testWebhook'>> {
    return this.#transport.send('testWebhook', { ...options, ids: [routineId] });
  }
}
