import type { Actor } from '#core/foundation/audit/index.ts';
import type { Db } from '#lib/database/index.ts';

/**
 * Lists the events by which a subject informs the subjects above it, because a subject may not call the subjects above
 * it. `handlersOf` in `core/services.ts` lists the handlers. A subject calls those below it directly.
 */
export interface Events {
  /** The work of routines has changed: they have a new revision and are drafts without a proof run. */
  readonly 'routine.changed': Routines;
  /** A person has taken routines off their schedules. */
  readonly 'routine.paused': Routines;
  /** Proposed changes are dropped, so their runs prove nothing any more. */
  readonly 'proposal.dropped': Routines;
  /** A routine has taken over a proposed change as this revision. The run that tried the change is the proof. */
  readonly 'proposal.taken': { readonly projectId: string; readonly runId: string; readonly revision: number };
  readonly 'routine.archived': Routines;
  /** The service has taken routines off their schedules, because their model account is gone. */
  readonly 'routine.paused_by_service': { readonly paused: readonly PausedRoutine[] };
  /** The tools that a routine may call without a person have changed. This is a material change of the routine. */
  readonly 'tools.changed': ChangedTools;
}

interface Routines {
  readonly routineIds: readonly string[];
}

/** A routine that the service has just paused, and the webhook that gets the event. */
export interface PausedRoutine {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly stateReason: string;
  readonly pausedAt: Date;
  readonly webhookUrl: string | null;
  readonly webhookFailedAt: Date | null;
}

/** The routines whose tools have changed; the transaction has locked them. */
export interface ChangedTools extends Routines {
  readonly projectId: string;
  /** Text that the routine shows; null when a person made the change on the routine itself. */
  readonly reason: string | null;
  /** The author of the change; the service itself when it found the change. */
  readonly by: Actor;
}

/**
 * Calls the handlers of an event one after another, in the transaction of the change: an error in one handler rolls the
 * change back. Work outside Postgres is left to `afterCommit`.
 */
export type Emit = <Name extends keyof Events>(tx: Db, name: Name, event: Events[Name]) => Promise<void>;

/** The handlers of each event, in the order in which they are called. */
export type Handlers = {
  readonly [Name in keyof Events]: readonly ((tx: Db, event: Events[Name]) => Promise<unknown>)[];
};

/** Creates the emitter. The handlers are looked up at each event, because they emit events themselves. */
export function createEmit(handlers: () => Handlers): Emit {
  return async (tx, name, event) => {
    for (const handle of handlers()[name]) await handle(tx, event);
  };
}
