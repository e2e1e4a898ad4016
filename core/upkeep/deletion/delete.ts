import type { Actor } from '#core/foundation/audit/index.ts';
import { requestSync } from '#core/accounts/billing/index.ts';
import { eraseConnections, revokeErased, type ConnectionsCore } from '#core/integrations/connections/index.ts';
import { forgetChats } from '#core/integrations/chats/index.ts';
import { forgetDigests } from '#core/upkeep/digests/index.ts';
import { forgetFactsOf } from '#core/authoring/facts/index.ts';
import { forgetSeen } from '#core/execution/gate/index.ts';
import { forgetGrantsOfProject } from '#core/accounts/programs/index.ts';
import {
  markErased,
  markOrganizationDeleted,
  markProjectDeleted,
  projectsToErase,
  type Organization,
  type Project,
} from '#core/accounts/organizations/index.ts';
import type { AccountsCore } from '#core/models/connections/index.ts';
import { cancelMessages } from '#core/foundation/outbox/index.ts';
import { eraseRoutines, forgetVersionsOf, projectsWithTexts, retireRoutines } from '#core/authoring/routines/index.ts';
import { keeping, stopRuns, type EndDeps } from '#core/execution/runs/index.ts';
import { forgetSkillsOf } from '#core/authoring/skills/index.ts';
import { forgetDeliveriesOf } from '#core/delivery/webhooks/index.ts';
import { sql, transaction, type Db } from '#lib/database/index.ts';
import { revokeAccountsOfProject } from './accounts.ts';

type DeletionDeps = AccountsCore & EndDeps & Pick<ConnectionsCore, 'connectionSecrets' | 'providers'>;

type Confirmed = Parameters<typeof markProjectDeleted>[2];

type Person = Actor & { readonly id: string };

/**
 * Deletes a project. The project is out of reach at once: its API keys are revoked and its credentials erased. The next
 * passes of retention erase the content of its runs, and later delete the runs when their retention ends.
 * @throws {AppError} `project_not_found`, `forbidden`, `confirmation_required`, `routines_active`
 */
export async function deleteProject(deps: DeletionDeps, by: Person, confirmed: Confirmed): Promise<Project> {
  const { project, emptied } = await transaction(deps.database, async (tx) => ({
    project: await markProjectDeleted(tx, by, confirmed),
    emptied: await empty(deps, tx, by, confirmed.id),
  }));
  await afterwards(deps, [emptied]);
  return project;
}

/**
 * Deletes an organization with all its projects.
 * @throws {AppError} `organization_not_found`, `owner_required`, `confirmation_required`, `routines_active`,
 * `subscription_active`
 */
export async function deleteOrganization(deps: DeletionDeps, by: Person, confirmed: Confirmed): Promise<Organization> {
  const { organization, emptied } = await transaction(deps.database, async (tx) => {
    const { organization, projectIds } = await markOrganizationDeleted(tx, by, confirmed);
    const emptied: EmptiedProject[] = [];
    for (const projectId of projectIds) emptied.push(await empty(deps, tx, by, projectId));
    // Request a sync, which expires open checkouts.
    await requestSync(tx, organization.id);
    return { organization, emptied };
  });
  await afterwards(deps, emptied);
  return organization;
}

type EmptiedProject = Awaited<ReturnType<typeof empty>>;

async function empty(deps: DeletionDeps, tx: Db, by: Actor, projectId: string) {
  const routineIds = await retireRoutines(deps, tx, projectId);
  const connections = await eraseConnections(tx, projectId);
  await keeping.unpinRuns(tx, projectId);
  await forgetSeen(tx, projectId);
  await forgetDigests(tx, { projectId });
  await forgetGrantsOfProject(tx, projectId);
  await cancelMessages(tx, projectId);
  await forgetChats(tx, projectId);
  await revokeAccountsOfProject(deps, tx, { projectId, by });
  return { projectId, routineIds, connections };
}

/**
 * Stops runs and revokes credentials after the transaction of the deletion. That transaction has locked the routines,
 * and a run that is ending has locked its own row and waits for the row of its routine: inside that transaction, the
 * two would deadlock.
 */
async function afterwards(deps: DeletionDeps, emptied: readonly EmptiedProject[]): Promise<void> {
  await stopRuns(deps, sql`routine_id = any(${emptied.flatMap(({ routineIds }) => routineIds)})`);
  for (const connection of emptied.flatMap(({ connections }) => connections)) void revokeErased(deps, connection);
}

/** Functions that erase texts of deleted projects, in at most `limit` rows each, and return the number of rows. */
const ERASERS: readonly ((db: Db, projectIds: readonly string[], limit: number) => Promise<number>)[] = [
  forgetSkillsOf,
  forgetFactsOf,
  forgetVersionsOf,
  eraseRoutines,
  forgetDeliveriesOf,
];

/**
 * Erases texts of people in deleted projects: skills, facts, versions, texts and addresses of routines, and webhook
 * bodies that name routines. Texts that an open run needs stay until its end. After a crash the next call continues.
 * @param limit the most rows that one statement erases
 * @returns `limit` when there may be more to erase
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
