import { isDeepStrictEqual } from 'node:util';
import {
  listAuditEvents,
  recordProjectAudit,
  type Actor,
  type AuditAction,
  type AuditDetails,
} from '#core/foundation/audit/index.ts';
import { findRecipients } from '#core/accounts/settings/index.ts';
import { chatsByName } from '#core/integrations/chats/index.ts';
import { enqueueMail } from '#core/foundation/outbox/index.ts';
import type { Db } from '#lib/database/index.ts';
import { definitionForm } from '#core/authoring/definition/index.ts';
import type { Routine } from './routine.ts';

/**
 * Records changes of material fields, budget and recipients in the audit log. Only the host of an address is recorded,
 * because webhooks have secrets in paths and queries. The owners of the organization are mailed when results of a
 * routine that is or was active go to another host.
 */
export async function recordChanges(tx: Db, { before, after, by, restoredFrom }: RecordedChange): Promise<void> {
  const record = (action: AuditAction, details: AuditDetails) =>
    recordProjectAudit(tx, { by, projectId: after.projectId, action, targetId: after.id, details });
  const changed = definitionForm.differences(before, after);
  if (changed.length > 0) {
    const { revision } = after;
    await record('routine.changed', { revision, changed, restoredFrom: restoredFrom ?? null });
  }
  if (!isDeepStrictEqual(before.budget, after.budget)) await record('budget.changed', { ...after.budget });
  const { successPingUrl } = after.notifications;
  if (before.notifications.successPingUrl !== successPingUrl) {
    const from = hostOf(before.notifications.successPingUrl);
    await record('success_ping.changed', { from, to: hostOf(successPingUrl) });
  }
  if (!isDeepStrictEqual(before.resultsTo, after.resultsTo)) await recordPeople(tx, { before, after, by });
  if (before.webhookUrl === after.webhookUrl) return;
  const [from, to] = [hostOf(before.webhookUrl), hostOf(after.webhookUrl)];
  await record('webhook.changed', { from, to });
  if (from !== to)
    await mailOwners(tx, before, { what: 'webhook', from: from ?? 'no webhook', to: to ?? 'no webhook' });
}

async function recordPeople(tx: Db, { before, after, by }: Omit<RecordedChange, 'restoredFrom'>): Promise<void> {
  const { id: targetId, projectId, resultsTo } = after;
  const { when, mail, chats } = resultsTo;
  const details = { when, mail: typeof mail === 'string' ? mail : [...(mail ?? [])], chats: [...chats] };
  await recordProjectAudit(tx, { by, projectId, action: 'results_to.changed', targetId, details });
  if (chats.every((id) => before.resultsTo.chats.includes(id))) return;
  const names = await chatsByName(tx, projectId, [...before.resultsTo.chats, ...chats]);
  const inWords = (ids: readonly string[]) => ids.flatMap((id) => names.get(id) ?? []).join(', ') || 'no chat';
  await mailOwners(tx, before, { what: 'chats', from: inWords(before.resultsTo.chats), to: inWords(chats) });
}

interface RecordedChange {
  readonly before: Routine;
  readonly after: Routine;
  readonly by: Actor;
  /** The revision that was restored; undefined when none was. */
  readonly restoredFrom: number | undefined;
}

/** Records that a material change took an active routine off its schedule, in the transaction of the change. */
export function recordDeactivation(
  tx: Db,
  by: Actor,
  { id, projectId, revision }: Pick<Routine, 'id' | 'projectId' | 'revision'>,
): Promise<void> {
  const entry = { by, projectId, targetId: id, details: { revision } };
  return recordProjectAudit(tx, { ...entry, action: 'routine.deactivated' });
}

function hostOf(url: string | null): string | null {
  return url === null ? null : new URL(url).host;
}

/**
 * Mails the owners about new recipients of a routine's results, unless the routine has never been active. The present
 * state does not count, because a thief could pause the routine first. No one can unsubscribe from this mail.
 */
async function mailOwners(
  tx: Db,
  { id, projectId, name, state }: Routine,
  { what, from, to }: { readonly what: 'webhook' | 'chats'; readonly from: string; readonly to: string },
): Promise<void> {
  const project = await tx.row<{ organizationId: string; name: string }>`
    select organization_id as "organizationId", name from projects where id = ${projectId}
  `;
  if (project === undefined) return;
  const { organizationId } = project;
  if (state === 'draft') {
    const activation = { organizationId, targetId: id, action: 'routine.activated' } as const;
    const activations = await listAuditEvents(tx, activation, { limit: 1, after: undefined });
    if (activations.length === 0) return;
  }
  await enqueueMail(tx, {
    organizationId,
    projectId,
    routineId: id,
    runId: null,
    kind: 'webhook_changed',
    userIds: await findRecipients(tx, organizationId, 'owners'),
    content: {
      subject: `Results go elsewhere: ${name}`,
      lines: [
        `The ${what} of the routine "${name}" in the project "${project.name}" ${what === 'chats' ? 'were' : 'was'} changed. Results went to ${from} and go to ${to} from now on.`,
        'The audit log says who changed it. If this change was not intended, undo it, and revoke the API key or end the session that made it.',
      ],
      path: `/p/${projectId}/routines/${id}`,
    },
  });
}
