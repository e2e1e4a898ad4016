import { execute, sql, type Db } from '#lib/database/index.ts';
import type { ClaimedMessage } from './claim.ts';

/** Result of an attempt; `retry` carries the delay before the next one. */
export type Verdict =
  | { readonly state: 'sent' }
  | { readonly state: 'cancelled' | 'failed'; readonly error: string }
  | { readonly state: 'retry'; readonly error: string; readonly delayMs: number };

/** Records an attempt, unless its lease has run out and another attempt was begun. A finished message keeps no text. */
export async function recordAttempt(
  db: Db,
  { id, attempt }: ClaimedMessage,
  verdict: Verdict,
): Promise<void> {
  const error = verdict.state === 'sent' ? null : verdict.error;
  const change =
    verdict.state === 'retry'
      ? sql`next_attempt_at = now() + ${verdict.delayMs}::float8 * interval '1 millisecond'`
      : sql`state = ${verdict.state}, content = null, finished_at = now()`;
  await execute(
    db,
    sql`
      update outbox set error = ${error}, ${change}
      where id = ${id} and state = 'pending' and attempts = ${attempt}
    `,
  );
}
