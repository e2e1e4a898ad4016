import type { Core } from '#core/core.ts';
import { eachApart, sql, transaction, type Db } from '#lib/database/index.ts';
import { endActions } from './end.ts';
import { LOST, record } from './send.ts';

export type StartActionsDeps = Pick<Core, 'database' | 'log' | 'uiOrigin' | 'work'> & {
  readonly engine: Pick<Core['engine'], 'startAction'>;
};

/** The most actions that one round starts; the next round continues. */
const BATCH = 50;

/**
 * Time for a workflow to begin, longer than a few attempts of its activity take. After this time another workflow is
 * started.
 */
const START_LEASE = sql`interval '15 minutes'`;

/** Starts workflows of approved actions that are due, once no action that they refer to is open or under way. */
export async function startDueActions(deps: StartActionsDeps, signal?: AbortSignal): Promise<number> {
  await settleActions(deps);
  for (let started = 0; ;) {
    signal?.throwIfAborted();
    const due = await claimDueActions(deps.database);
    for (const action of due) {
      try {
        await deps.engine.startAction(action);
      } catch (err) {
        // While Temporal is away, each start would wait for its deadline, so the round ends here. The leases expire,
        // and a later tick continues.
        deps.log.warn({ err, actionId: action.id }, 'an approved action is not started; a tick will do it');
        await giveBack(deps.database, due.slice(due.indexOf(action)));
        return started;
      }
      started += 1;
    }
    if (due.length < BATCH) return started;
  }
}

/** The least time for which an approved call is tried while its server is away, counted from the approval. */
const LEAST_PATIENCE = sql`interval '1 hour'`;

interface DueAction {
  readonly id: string;
  readonly projectId: string;
  /** Number of the workflow that is started now. */
  readonly attempt: number;
}

function claimDueActions(db: Db): Promise<DueAction[]> {
  return db.rows<DueAction>`
    update actions set start_at = now() + ${START_LEASE}, attempts = attempts + 1
    from (
      select id from actions a
      where state = 'approved' and start_at <= now() and not exists (
        select from actions r left join actions n on n.id = r.replaced_by and n.project_id = r.project_id
        where r.id = any(a.refers_to) and r.project_id = a.project_id
          and coalesce(n.state, r.state) in ('open', 'approved', 'sending'))
      order by start_at limit ${BATCH} for update skip locked
    ) due
    where actions.id = due.id
    returning actions.id, actions.project_id as "projectId", attempts as attempt
  `;
}

async function giveBack(db: Db, due: readonly DueAction[]): Promise<void> {
  await db.run`
    update actions set start_at = now() + interval '5 seconds'
    where id = any(${due.map(({ id }) => id)}) and project_id = any(${due.map(({ projectId }) => projectId)})
      and state = 'approved'
  `;
}

/** Settles actions whose worker was lost while it sent them, and approved actions that could not be sent in time. */
async function settleActions(deps: StartActionsDeps): Promise<void> {
  const lost = await deps.database.rows<{ id: string; projectId: string; state: string }>`
    select id, project_id as "projectId", state from actions
    where start_at <= now() and (state = 'sending' or (state = 'approved' and attempts > 0
        and greatest(expires_at, decided_at + ${LEAST_PATIENCE}) <= now()))
    order by start_at limit ${BATCH}
  `;
  const failed = (err: unknown, { id }: { readonly id: string }) =>
    deps.log.error({ err, actionId: id }, 'an action could not be settled');
  const settle = async (action: (typeof lost)[number]) => {
    const { id, projectId } = action;
    if (action.state === 'sending') {
      await record(deps, action, LOST, sql`state = 'sending' and start_at <= now()`);
      return;
    }
    const which = sql`id = ${id} and project_id = ${projectId} and start_at <= now()`;
    await transaction(deps.database, (tx) => endActions(deps, tx, which, { state: 'closed', reason: 'unreachable' }));
  };
  await eachApart(lost, settle, { failed });
}
