import { tick } from '#core/scheduling/index.ts';
import { execute, sql } from '#lib/database/index.ts';
import type { Service } from './service.ts';
import { justPast } from './just-past.ts';

/** Makes the next occurrence of an active routine due, and has a tick claim it. */
export async function fallDue({ deps }: Pick<Service, 'deps'>, routineId: string): Promise<void> {
  await execute(
    deps.database,
    sql`update routines set next_run_at = ${justPast} where id = ${routineId}`,
  );
  await tick(deps);
}
