import type { Core } from '#core/core.ts';
import type { Mail, Mailer } from '#lib/mail.ts';
import type { WorkOutcome } from '#core/foundation/work/index.ts';
import type { WaitingMessage } from './waiting.ts';
import { bodyOf, withoutForeignLinks, type StopLink } from './mail-body.ts';
import { joinParts } from './mail-parts.ts';
import { isUnsubscribable, type MailContent, type MailPart } from './message.ts';
import { ALL_DIGESTS, digestScope, type UnsubscribeLinks } from './opt-outs.ts';

export interface MailDeps extends Pick<Core, 'leadsEmail' | 'mailer' | 'uiOrigin'> {
  readonly unsubscribeLinks: UnsubscribeLinks;
}

/** Makes one attempt to send a mail. @param to null if the recipient may not be mailed any more */
export async function sendMail(deps: MailDeps, message: WaitingMessage, to: string | null): Promise<WorkOutcome> {
  const { mailer, uiOrigin, unsubscribeLinks: links } = deps;
  if (mailer === undefined) return { state: 'failed', error: 'no mail server is configured' };
  if (to === null) return { state: 'cancelled', error: 'the recipient is no longer a member with a confirmed address' };
  if (message.optedOut) return { state: 'cancelled', error: 'the recipient has unsubscribed' };
  const parts = message.content?.parts?.filter(({ projectId }) => message.projectIds.includes(projectId));
  if (parts?.length === 0) {
    return { state: 'cancelled', error: 'the recipient can no longer read any of its projects, or has unsubscribed' };
  }
  return attemptMail(mailer, compose(message, { to, parts }, { uiOrigin, links }));
}

/** Makes one attempt to send a mail and returns its outcome. */
export async function attemptMail(mailer: Mailer, mail: Mail): Promise<WorkOutcome> {
  const fault = await mailer.attempt(mail);
  if (fault === undefined) return { state: 'done' };
  const { kind, message: error } = fault;
  return kind === 'refused' ? { state: 'failed', error } : { state: 'retry', error, isAway: kind === 'away' };
}

/** Composes a message's mail: its text, the link to its page, and the links to unsubscribe. */
function compose(
  message: WaitingMessage,
  { to, parts }: { readonly to: string; readonly parts: readonly MailPart[] | undefined },
  { uiOrigin, links }: { uiOrigin: string; links: UnsubscribeLinks },
): Mail {
  const told: MailContent = parts === undefined ? (message.content ?? { subject: '', lines: [] }) : joinParts(parts);
  const content = withoutForeignLinks(told);
  const { subject, replyTo } = content;
  const stop =
    parts !== undefined && message.userId !== null
      ? endingDigests(message.userId, parts, links)
      : unsubscribing(message, links);
  return {
    id: message.id,
    to,
    // Remove line breaks: a name chosen by a user must not break the subject line.
    subject: subject.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' '),
    ...bodyOf(content, { uiOrigin, stops: withoutForeignLinks(stop.links) }),
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(stop.url === undefined ? {} : { unsubscribeUrl: stop.url }),
  };
}

interface Stops {
  readonly links: readonly StopLink[];
  /** The link that mail programs show as their button to unsubscribe. */
  readonly url?: string;
}

/**
 * Returns the links that end digests. A mail about one project has the project's own link; any other mail has one link
 * for all projects and one link for each project.
 */
function endingDigests(userId: string, parts: readonly MailPart[], links: UnsubscribeLinks): Stops {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) {
    const { projectId } = first;
    const url = links.of({ userId, scopeId: digestScope(projectId) });
    return {
      links: [{ label: 'No more digests of this project', url }, ofProject(userId, projectId, links)],
      url,
    };
  }
  const url = links.of({ userId, scopeId: ALL_DIGESTS });
  const each = parts.map(({ projectId, projectName }) => ({
    label: `No more digests of the project "${projectName}"`,
    url: links.of({ userId, scopeId: digestScope(projectId) }),
  }));
  return { links: [{ label: 'No more digests of any project', url }, ...each], url };
}

function ofProject(userId: string, projectId: string, links: UnsubscribeLinks): StopLink {
  return { label: 'No more mail about anything in this project', url: links.of({ userId, scopeId: projectId }) };
}

function unsubscribing({ kind, userId, projectId, routineId }: WaitingMessage, links: UnsubscribeLinks): Stops {
  if (!isUnsubscribable(kind) || userId === null || projectId === null) return { links: [] };
  const all = ofProject(userId, projectId, links);
  if (routineId === null) return { links: [all], url: all.url };
  const url = links.of({ userId, scopeId: routineId });
  return { links: [{ label: 'No more mail about this routine', url }, all], url };
}
