import { tick } from '#core/scheduling/index.ts';
import { AT_ONCE, execute, sql } from '#lib/database/index.ts';
import type { Service } from './service.ts';

/** Makes the next occurrence of an active routine due, and has a tick claim it. */
export async function fallDue({ deps }: Pick<Service, 'deps'>, routineId: string): Promise<void> {
  await execute(
    deps.database,
    sql`update routines set next_run_at = ${AT_ONCE} where id = ${routineId}`,
  );
  await tick(deps);
}
