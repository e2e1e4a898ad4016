import { markErased, projectsToErase } from '#core/identity/index.ts';
import { eraseRoutines, forgetVersionsOf, projectsWithTexts } from '#core/routines/index.ts';
import { forgetSkillsOf } from '#core/skills/index.ts';
import { forgetDeliveriesOf } from '#core/webhooks/index.ts';
import type { Db } from '#lib/database/index.ts';

/** Erase something of deleted projects, at most `limit` rows of it; return how many. */
const ERASERS: readonly ((
  db: Db,
  projectIds: readonly string[],
  limit: number,
) => Promise<number>)[] = [forgetSkillsOf, forgetVersionsOf, eraseRoutines, forgetDeliveriesOf];

/**
 * Erases what people wrote in deleted projects: skills, versions, the texts and addresses of routines, and the webhook
 * bodies that name them. What a run under way executes stays until it has ended. A crash leaves the rest for the next
 * call.
 * @param limit the most rows that one statement erases
 * @returns `limit` when there may be more to erase at once
 */
export async function eraseDeletedProjects(db: Db, limit: number): Promise<number> {
  const projects = await projectsToErase(db);
  if (projects.length === 0) return 0;
  for (const erase of ERASERS) {
    if ((await erase(db, projects, limit)) === limit) return limit;
  }
  const left = new Set(await projectsWithTexts(db, projects));
  const done = await markErased(
    db,
    projects.filter((id) => !left.has(id)),
  );
  return done > 0 ? limit : 0;
}
