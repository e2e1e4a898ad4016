import type { components, operations } from './generated/schema.ts';

/** A named shape of the API's document: `Shape<'RunDetail'>`. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name];

/** A routine as it is read. A list has `Item<'listRoutines'>` instead. */
export type Routine = Shape<'RoutineDetail'>;
/** A run as the service returns it at its start. */
export type Run = Shape<'Run'>;
/** A run with its steps, result, usage and deliveries. */
export type RunResult = Shape<'RunDetail'>;
export type RunSummary = Shape<'RunSummary'>;
export type Step = Shape<'Step'>;
export type RoutineSummary = Shape<'RoutineSummary'>;
export type Skill = Shape<'SkillDetail'>;
export type Model = Shape<'ModelOption'>;
export type Connection = Shape<'Connection'>;

export type OperationId = keyof operations;

/** The data of a success. */
export type Data<Id extends OperationId> = operations[Id] extends { responses: infer R }
  ? R[keyof R] extends { content: { 'application/json': { data: infer D } } }
    ? D
    : never
  : never;

/** One item of a list. */
export type Item<Id extends OperationId> = Data<Id> extends readonly (infer I)[] ? I : never;

export type Query<Id extends OperationId> = operations[Id] extends {
  parameters: { query?: infer Q };
}
  ? NonNullable<Q>
  : never;

export type Body<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer B } };
}
  ? B
  : never;

export interface CallOptions {
  /** Aborts the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Time for each attempt. By default the time that the client has: 60 seconds. */
  readonly timeoutMs?: number | undefined;
  /** Retries after a failure that may pass. By default the number that the client has: 2. */
  readonly maxRetries?: number | undefined;
}

export interface ReadRunOptions extends CallOptions {
  /** Seconds to wait for the end of the run, at most 50. The time for each attempt grows by these seconds. */
  readonly waitSeconds?: number | undefined;
}

export interface CreateOptions extends CallOptions {
  /**
   * Idempotency key. For 24 hours the same key and body return the first response. By default each call has a new key.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface ChangeOptions extends CallOptions {
  /**
   * The `etag` of `.withResponse()`. If the resource has changed since, the call fails with `PreconditionFailedError`.
   */
  readonly ifMatch?: string | undefined;
}

export interface PutOptions extends ChangeOptions {
  /** With `*` the call fails with `PreconditionFailedError` if the resource exists already. */
  readonly ifNoneMatch?: '*' | undefined;
}
