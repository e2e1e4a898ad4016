import { z } from 'zod';
import { sql, type Db } from '#lib/database/index.ts';
import { invalid } from '#lib/errors.ts';

/** Lists the events about which people can get mail. */
export const MAIL_EVENTS = ['failed', 'paused', 'budget', 'partial', 'recovered', 'held', 'question'] as const;
export type MailEvent = (typeof MAIL_EVENTS)[number];

/** Groups of an organization's people. Owners are admins too, and both are members. */
export const RECIPIENT_GROUPS = ['owners', 'admins', 'members'] as const;
export type RecipientGroup = (typeof RECIPIENT_GROUPS)[number];

/** Events that are mailed, and the recipients. */
export interface MailSettings {
  /** Events that cause a mail; empty for no mail. */
  readonly on: readonly MailEvent[];
  /** The recipients: a group, or the ids of people. */
  readonly to: RecipientGroup | readonly string[];
}

/**
 * Events that 0.1.0 does not know. They are stored under the separate name `later`, because that release cannot present
 * them; the release after 0.2.0 may store them under `on`.
 */
const LATER: ReadonlySet<MailEvent> = new Set(['held', 'question']);

/** Returns the settings in their stored form. */
export function storedMail({ on, to }: MailSettings): object {
  return { on: on.filter((each) => !LATER.has(each)), later: on.filter((each) => LATER.has(each)), to };
}

/** SQL text that reads stored settings from a column. */
export function mailIn(column: string): string {
  return `(${column} - 'later' || jsonb_build_object('on', ${column} -> 'on' || coalesce(${column} -> 'later', '[]')))`;
}

function isUnique(list: readonly string[]): boolean {
  return new Set(list).size === list.length;
}

/** Mail settings in requests. */
export const mailSettings = z
  .strictObject({
    on: z
      .array(z.enum(MAIL_EVENTS))
      .max(MAIL_EVENTS.length)
      .refine(isUnique, 'the same event twice')
      .meta({
        uniqueItems: true,
        description:
          '`failed`: a run failed. `paused`: the service paused the routine. `budget`: 80 % or all of a budget is spent. ' +
          '`partial`: a run succeeded with the outcome `partial`. `recovered`: the first run that succeeded after failures. `held`: calls of a run wait for a person. `question`: a run asks a question. Empty for no mail at all.',
        example: ['failed', 'paused'],
      }),
    to: z
      .union([
        z.enum(RECIPIENT_GROUPS),
        z
          .array(z.string().min(1).max(100))
          .min(1)
          .max(50)
          .refine(isUnique, 'the same person twice')
          .meta({ uniqueItems: true }),
      ])
      .meta({
        description:
          'A group of the organization, or ids of members; `admins` includes the owners. Mail goes to confirmed addresses of people who are members when it is sent, and to no other person.',
        example: 'admins',
      }),
  })
  .meta({ id: 'MailSettings' });

const ROLES: Readonly<Record<RecipientGroup, readonly string[]>> = {
  owners: ['owner'],
  admins: ['owner', 'admin'],
  members: ['owner', 'admin', 'member'],
};

/** The most people that one mail goes to. */
const MOST_RECIPIENTS = 200;

/**
 * Checks that every named person belongs to the project's organization: no one else gets mail.
 * @param path place of the people in the request, for the error
 * @throws {AppError} `invalid_request`
 */
export async function assertRecipients(
  db: Db,
  projectId: string,
  to: MailSettings['to'] | null,
  path: string,
): Promise<void> {
  if (to === null || typeof to === 'string') return;
  const strangers = await db.row<{ ids: string[] | null }>`
    select array_agg(named.id) as ids from unnest(${to}::text[]) as named (id)
    where not exists (
      select from memberships m join projects p on p.organization_id = m.organization_id
      where p.id = ${projectId} and m.user_id = named.id
    )
  `;
  if (strangers?.ids == null) return;
  const message = `not a member of the organization: ${strangers.ids.join(', ')}`;
  throw invalid([{ path, message }]);
}

/** Finds the recipients who may be mailed: members whose address is confirmed. */
export async function findRecipients(db: Db, organizationId: string, to: MailSettings['to']): Promise<string[]> {
  const isGroup = typeof to === 'string';
  const found = await db.rows<{ id: string }>`
    select u.id from memberships m join users u on u.id = m.user_id
    where m.organization_id = ${organizationId} and u.email_verified
      and ${isGroup ? sql`m.role = any(${ROLES[to]})` : sql`m.user_id = any(${to})`}
    order by m.created_at, u.id limit ${MOST_RECIPIENTS}
  `;
  return found.map(({ id }) => id);
}
