import { z } from 'zod';
import type { Core } from '#core/core.ts';
import type { WorkOutcome, RequestKind } from '#core/foundation/work/index.ts';
import { afterCommit, sql, type Database, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import type { Mailer } from '#lib/mail.ts';
import type { SecretBox, SecretPlace } from '#lib/secrets/index.ts';
import { accountPage } from './mail-body.ts';
import { attemptMail } from './send-mail.ts';
import { findWaiting, NOT_THERE, queueMessages, recordSending } from './waiting.ts';

/** A mail about an account. The mail is stored sealed, because its link gives access. */
const accountMail = z.object({
  to: z.string(),
  subject: z.string(),
  text: z.string(),
  /** Label of the button that opens the link. */
  button: z.string().optional(),
});
type AccountMail = z.output<typeof accountMail>;

/** Mails about accounts. A mail is sent at once and, if the mail server refuses, tried again until its link expires. */
export interface AccountMails {
  /**
   * Queues a mail in the transaction that makes its link, and sends it after the commit. The caller does not wait for
   * the mail server, because the delay would show whether a mail was sent.
   * @param mail.about names the subject of the link, so that `cancel` finds the mail
   */
  queue(db: Db, mail: AccountMail & { readonly seconds: number; readonly about?: string }): Promise<void>;
  /** Gives up the mail of a link that is no longer valid. */
  cancel(db: Db, about: string): Promise<void>;
}

/** Sends mails about accounts; undefined without a mail server. */
export interface WithAccountMails {
  readonly accountMails: AccountMails | undefined;
}

export function createAccountMails({ secrets, work }: Pick<Core, 'secrets' | 'work'>): AccountMails {
  return {
    async queue(db, { seconds, about, ...mail }) {
      const id = newId('message');
      const sealed = secrets.seal(JSON.stringify(mail), place(id));
      await db.run`
        with message as (
          insert into outbox (id, channel, kind, sealed, dedupe_key, state, next_attempt_at, expires_at)
          values (${id}, 'account', 'account', ${sealed}, ${about ?? null}, 'pending', ${NOT_THERE},
            now() + make_interval(secs => ${seconds}::integer))
          returning id, channel, organization_id
        )
        ${queueMessages(sql`message`)}
      `;
      afterCommit(db, () => work.nudge('account'));
    },
    async cancel(db, about) {
      await db.run`
        update outbox set state = 'cancelled', error = 'its link opens nothing any more', sealed = null,
          finished_at = now()
        where dedupe_key = ${about} and channel = 'account' and state = 'pending'
      `;
    },
  };
}

/**
 * Waits between attempts: they double from 10 seconds to an hour, for a week in all. The first waits are short, because
 * a server with a greylist accepts the mail some minutes later.
 */
const WAITS_MS = Array.from({ length: 160 }, (_, index) => Math.min(10_000 * 2 ** index, 3_600_000));

/**
 * Returns the kind of work that sends mails about accounts; undefined without a mail server. A mail is given up when
 * its link expires.
 */
export function accountMailKind(deps: {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly mailer: Mailer | undefined;
  readonly uiOrigin: string;
}): RequestKind | undefined {
  const { mailer } = deps;
  if (mailer === undefined) return undefined;
  return {
    channel: 'account',
    batch: 20,
    waitsMs: WAITS_MS,
    attempt: ({ key }) => attempt({ ...deps, mailer }, key),
    ended: recordSending,
  };
}

async function attempt(
  { database, secrets, mailer, uiOrigin }: { database: Db; secrets: SecretBox; mailer: Mailer; uiOrigin: string },
  id: string,
): Promise<WorkOutcome> {
  const mail = await findWaiting(database, id);
  if (mail?.sealed == null) return { state: 'cancelled', error: 'the mail is no longer wanted' };
  if (mail.isOver) return { state: 'failed', error: 'the link in the mail has expired' };
  const content = accountMail.parse(JSON.parse(secrets.open(mail.sealed, place(id))));
  return attemptMail(mailer, { id, ...content, html: accountPage(content, uiOrigin) });
}

function place(row: string): SecretPlace {
  return { table: 'outbox', row, column: 'sealed' };
}
