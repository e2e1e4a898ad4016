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
  /** The call resolves when the run has ended, not when it is queued; `true` waits without a limit. */
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

  /** Proposes a routine from a sentence or a blueprint, and saves nothing. */
  draft(body: Body<'draftRoutine'>, options?: CallOptions): Call<Data<'draftRoutine'>> {
    return this.#transport.send('draftRoutine', { ...options, body });
  }

  /** Lists the blueprints: routines that need only a few answers. */
  blueprints(options?: CallOptions): Call<Data<'listBlueprints'>> {
    return this.#transport.send('listBlueprints', { ...options });
  }

  read(routineId: string, options?: CallOptions): Call<Data<'readRoutine'>> {
    return this.#transport.send('readRoutine', { ...options, ids: [routineId] });
  }

  /** Changes the given fields; a material change makes the routine a draft again. */
  update(routineId: string, body: Body<'updateRoutine'>, options?: ChangeOptions): Call<Data<'updateRoutine'>> {
    return this.#transport.send('updateRoutine', { ...options, ids: [routineId], body });
  }

  /** Creates or replaces the routine with your key; missing fields take their defaults. */
  put(externalKey: string, body: Body<'putRoutine'>, options?: PutOptions): Call<Data<'putRoutine'>> {
    return this.#transport.send('putRoutine', { ...options, ids: [externalKey], body });
  }

  /** Reads one number of each item of the routine's data, run by run. */
  series(routineId: string, query: Query<'readSeries'> = {}, options?: CallOptions): Call<Data<'readSeries'>> {
    return this.#transport.send('readSeries', { ...options, ids: [routineId], query });
  }

  /** Checks a routine without saving it, and lists all faults. */
  check(body: Body<'checkRoutine'>, options?: CallOptions): Call<Data<'checkRoutine'>> {
    return this.#transport.send('checkRoutine', { ...options, body });
  }

  /** Archives the routine until it is restored; its runs stay. */
  archive(routineId: string, options?: CallOptions): Call<Data<'archiveRoutine'>> {
    return this.#transport.send('archiveRoutine', { ...options, ids: [routineId] });
  }

  /** Takes the routine out of the archive, as a draft. */
  restoreArchived(routineId: string, options?: CallOptions): Call<Data<'restoreRoutine'>> {
    return this.#transport.send('restoreRoutine', { ...options, ids: [routineId] });
  }

  /**
   * Proposes a change of an active routine. A run tries the change, and the routine takes it over if the run succeeds.
   */
  propose(
    routineId: string,
    body: Body<'createProposal'>,
    options?: CreateOptions & ChangeOptions,
  ): Call<Data<'createProposal'>> {
    return this.#transport.send('createProposal', { ...options, ids: [routineId], body });
  }

  proposal(routineId: string, proposalId: string, options?: CallOptions): Call<Data<'readProposal'>> {
    return this.#transport.send('readProposal', { ...options, ids: [routineId, proposalId] });
  }

  /** Drops a change that is being tried, and cancels its run. */
  withdraw(routineId: string, proposalId: string, options?: CallOptions): Call<Data<'deleteProposal'>> {
    return this.#transport.send('deleteProposal', { ...options, ids: [routineId, proposalId] });
  }

  /** Starts the schedule of a routine whose current version has run successfully. */
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

  /** Lists the runs of the routine, newest first. */
  runs(routineId: string, query: Query<'listRoutineRuns'> = {}, options?: CallOptions): Pages<Item<'listRoutineRuns'>> {
    return this.#transport.list('listRoutineRuns', { ...options, ids: [routineId], query });
  }

  /** Shows the prompt and tools of a run, without starting one. */
  preview(routineId: string, body: Body<'previewRoutine'> = {}, options?: CallOptions): Call<Data<'previewRoutine'>> {
    return this.#transport.send('previewRoutine', { ...options, ids: [routineId], body });
  }

  /** Forecasts the usage of the next 30 days. */
  forecast(routineId: string, options?: CallOptions): Call<Data<'readRoutineForecast'>> {
    return this.#transport.send('readRoutineForecast', { ...options, ids: [routineId] });
  }

  /** Makes runs for past times of the schedule. */
  backfill(routineId: string, body: Body<'backfillRoutine'>, options?: CreateOptions): Call<Data<'backfillRoutine'>> {
    return this.#transport.send('backfillRoutine', { ...options, ids: [routineId], body });
  }

  /** Forecasts the usage of a backfill. */
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

  /** Saves an earlier version as a new version. */
  restore(routineId: string, revision: number, options?: CreateOptions): Call<Data<'restoreRoutineVersion'>> {
    return this.#transport.send('restoreRoutineVersion', {
      ...options,
      ids: [routineId, revision],
    });
  }

  /**
   * Makes a new webhook secret; for 24 hours, events are signed with the old secret too. The new secret is null in a
   * repeated response, after the first response was lost.
   */
  rotateWebhookSecret(
    routineId: string,
    body: Body<'rotateWebhookSecret'> = {},
    options?: CreateOptions,
  ): Call<Data<'rotateWebhookSecret'>> {
    return this.#transport.send('rotateWebhookSecret', { ...options, ids: [routineId], body });
  }

  /** Sends a test event to the webhook and returns the receiver's response. */
  testWebhook(routineId: string, options?: CallOptions): Call<Data<'testWebhook'>> {
    return this.#transport.send('testWebhook', { ...options, ids: [routineId] });
  }
}
