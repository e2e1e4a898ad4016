import { rows, sql, type Db } from '#lib/database/index.ts';
import type { MessageKind, MessageState } from './message.ts';

/** A message about a run, as its detail shows it. */
export interface RunMessage {
  readonly kind: MessageKind;
  /** The masked address of a person, or the host of a monitor; null when it had no recipient. */
  readonly to: string | null;
  readonly state: MessageState;
  /** Time at which it reached its state; while it waits, the time at which it was queued. */
  readonly at: Date;
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly error: string | null;
}

/** Limit of messages in a run's detail. */
const MOST = 300;

/** Lists the messages about a run, oldest first. The caller has read the run in its project. */
export async function listMessages(db: Db, runId: string): Promise<RunMessage[]> {
  const found = await rows<RunMessage & { email: string | null; url: string | null }>(
    db,
    sql`
      select o.kind, o.state, coalesce(o.finished_at, o.created_at) as at, o.attempts, o.error, u.email, o.url,
        case when o.state = 'pending' then o.next_attempt_at end as "nextAttemptAt"
      from outbox o left join users u on u.id = o.user_id
      where o.run_id = ${runId} order by o.id limit ${MOST}
    `,
  );
  return found.map(({ email, url, ...message }) => ({
    ...message,
    to: email === null ? hostOf(url) : masked(email),
  }));
}

/** Masks an address: `grace@example.com` becomes `g***@example.com`. */
function masked(email: string): string {
  return email.replace(/^(.)[^@]*/u, '$1***');
}

function hostOf(url: string | null): string | null {
  return url === null ? null : (URL.parse(url)?.host ?? null);
}

/** The age in seconds of the oldest mail that has not been sent, as an SQL expression; 0 when there is none. */
export const oldestUnsentMail = sql`coalesce((
  select extract(epoch from now() - min(created_at)) from outbox where state = 'pending' and channel = 'mail'
), 0)::float8`;
