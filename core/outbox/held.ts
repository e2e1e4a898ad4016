import { execute, rows, sql, type Db } from '#lib/database/index.ts';
import type { MessageKind } from './message.ts';

/** Count of events of one kind that were withheld since the last mail about a routine. */
export interface HeldCount {
  readonly kind: MessageKind;
  readonly count: number;
}

/** Counts what was held back about a routine, and marks it as merged into the mail that this transaction queues. */
export function mergeHeld(tx: Db, routineId: string): Promise<HeldCount[]> {
  return rows<HeldCount>(
    tx,
    sql`
      with merged as (
        update outbox set state = 'merged', finished_at = now()
        where routine_id = ${routineId} and state = 'held'
        returning kind
      )
      select kind, count(*) from merged group by kind order by count(*) desc, kind
    `,
  );
}

/** Does the same for all routines of a project, each counted on its own. */
export function mergeHeldOfProject(
  tx: Db,
  projectId: string,
): Promise<(HeldCount & { readonly routineId: string })[]> {
  return rows(
    tx,
    sql`
      with merged as (
        update outbox set state = 'merged', finished_at = now()
        where project_id = ${projectId} and state = 'held'
        returning kind, routine_id
      )
      select routine_id as "routineId", kind, count(*) from merged group by routine_id, kind
    `,
  );
}

/** Cancels what was held back about a routine that nobody is subscribed to any more. */
export async function cancelHeld(tx: Db, routineId: string): Promise<void> {
  await execute(
    tx,
    sql`
      update outbox set state = 'cancelled', finished_at = now(), error = 'nobody is to be told any more'
      where routine_id = ${routineId} and state = 'held'
    `,
  );
}
