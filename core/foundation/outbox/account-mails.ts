import { z } from 'zod';
import { afterCommit, type Database, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import type { Log } from '#lib/log.ts';
import type { Mailer } from '#lib/mail.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { SecretBox, SecretPlace } from '#lib/secrets/index.ts';
import { LEASE, recordSending, type Verdict } from './attempts.ts';

/** A mail about an account. Its link opens something, so that it is stored sealed. */
const accountMail = z.object({ to: z.string(), subject: z.string(), text: z.string() });
type AccountMail = z.output<typeof accountMail>;

/**
 * Mails about accounts: they wait in the queue for as long as their links live, and are sent at once where the mail
 * server takes them.
 */
export interface AccountMails {
  /**
   * Queues a mail, in the transaction that makes its link, and sends it once that has committed. The caller does not
   * wait for the mail server: the time would show whether there was anything to send.
   * @param mail.about names the thing that the link opens, so that `cancel` finds the mail
   */
  queue(db: Db, mail: AccountMail & { readonly seconds: number; readonly about?: string }): Promise<void>;
  /** Gives up the mail of a link that opens nothing any more. */
  cancel(db: Db, about: string): Promise<void>;
  /** Sends what is due, until the mail server is away. @returns the number of attempts */
  sendDue(signal?: AbortSignal): Promise<number>;
  /** Waits for the attempts that were begun. */
  settled(): Promise<void>;
}

interface AccountMailDeps {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly mailer: Mailer;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What takes mails about accounts; undefined without a mail server. */
export interface WithAccountMails {
  readonly accountMails: AccountMails | undefined;
}

export function createAccountMails(deps: AccountMailDeps): AccountMails {
  const { database, secrets, log } = deps;
  const underWay = new Set<Promise<unknown>>();

  async function sendDue(signal?: AbortSignal): Promise<number> {
    let total = 0;
    for (;;) {
      signal?.throwIfAborted();
      const claimed = await claim(database);
      const tried = await Promise.allSettled(claimed.map((mail) => attempt(deps, mail)));
      total += claimed.length;
      let goOn = claimed.length === BATCH;
      for (const each of tried) {
        if (each.status === 'rejected') throw each.reason;
        goOn &&= each.value;
      }
      if (!goOn) return total;
    }
  }

  function sendNow(): void {
    const sending = sendDue()
      .catch((err: unknown) => log.warn({ err }, 'the mails about accounts wait for the next tick'))
      .finally(() => underWay.delete(sending));
    underWay.add(sending);
  }

  return {
    async queue(db, { seconds, about, ...mail }) {
      const id = newId('message');
      const sealed = secrets.seal(JSON.stringify(mail), place(id));
      await db.run`
        insert into outbox (id, channel, kind, sealed, dedupe_key, state, expires_at)
        values (${id}, 'account', 'account', ${sealed}, ${about ?? null}, 'pending',
          now() + make_interval(secs => ${seconds}::integer))
      `;
      afterCommit(db, sendNow);
    },
    async cancel(db, about) {
      await db.run`
        update outbox set state = 'cancelled', error = 'its link opens nothing any more', sealed = null,
          finished_at = now()
        where dedupe_key = ${about} and channel = 'account' and state = 'pending'
      `;
    },
    sendDue,
    async settled() {
      await Promise.all(underWay);
    },
  };
}

/** Mails sent at the same time: few enough to be sent well within their lease. */
const BATCH = 20;

interface ClaimedMail {
  readonly id: string;
  readonly attempt: number;
  readonly sealed: string;
  readonly isOver: boolean;
}

function claim(db: Db): Promise<ClaimedMail[]> {
  return db.rows<ClaimedMail>`
    with due as (
      select id from outbox
      where state = 'pending' and channel = 'account' and organization_id = '' and next_attempt_at <= now()
      order by next_attempt_at limit ${BATCH} for update skip locked
    )
    update outbox set attempts = attempts + 1, next_attempt_at = now() + ${LEASE}
    from due where outbox.id = due.id
    returning outbox.id, attempts as attempt, sealed, expires_at <= now() as "isOver"
  `;
}

/** Waits between attempts, each twice as long as the one before: a greylist asks for some minutes. */
const FIRST_WAIT_MS = 10_000;
const LONGEST_WAIT_MS = 3_600_000;

/** @returns true when others may be tried */
async function attempt({ database, secrets, mailer, log, metrics }: AccountMailDeps, mail: ClaimedMail) {
  const { id, sealed } = mail;
  const fault = mail.isOver
    ? { kind: 'refused' as const, message: 'its link has expired' }
    : await mailer.attempt({ id, ...accountMail.parse(JSON.parse(secrets.open(sealed, place(id)))) });
  const error = fault?.message ?? '';
  const delayMs = Math.min(FIRST_WAIT_MS * 2 ** (mail.attempt - 1), LONGEST_WAIT_MS);
  const verdict: Verdict =
    fault === undefined
      ? { state: 'sent' }
      : fault.kind === 'refused'
        ? { state: 'failed', error }
        : { state: 'retry', error, delayMs };
  await recordSending(database, mail, verdict);
  metrics.messageAttempt({ channel: 'account', outcome: verdict.state });
  const entry = { messageId: id, attempt: mail.attempt, outcome: verdict.state, ...(fault && { reason: error }) };
  if (verdict.state === 'failed') log.error(entry, 'a mail about an account could not be sent');
  else log.info(entry, 'message attempt');
  return fault?.kind !== 'away';
}

function place(row: string): SecretPlace {
  return { table: 'outbox', row, column: 'sealed' };
}
