import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SYSTEM } from '#core/foundation/audit/index.ts';
import { tokenPrefix } from '#core/accounts/identity/index.ts';
import { sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import { endGrants } from './grants.ts';

/** A refresh token as a client presents it. */
interface Presented {
  readonly token: string;
  readonly clientId: string;
}

interface Deps {
  readonly database: Database;
  readonly config: { readonly PRODUCT_TAG: string };
}

/**
 * Ends the access of an assistant whose refresh token comes again after the time in which a repeated request may: one of
 * two who hold it has stolen it. It ends in the project of the token alone, where the library would end all of the
 * person's.
 * @returns whether it was such a token
 */
export function endReusedGrant({ database, config }: Deps, presented: Presented): Promise<boolean> {
  return transaction(database, async (tx) => {
    const { token, clientId } = presented;
    const found = await tx.row<{ referenceId: string; userId: string }>`
      select reference_id as "referenceId", user_id as "userId" from oauth_refresh_tokens
      where token = ${storedAs(token, config.PRODUCT_TAG)} and client_id = ${clientId} and revoked is not null
        and (rotated_at is null or coalesce(rotation_replay_expires_at < now(), true))
    `;
    if (found === undefined) return false;
    const { referenceId, userId } = found;
    await endGrants(tx, sql`g.reference_id = ${referenceId} and g.user_id = ${userId} and g.client_id = ${clientId}`, {
      by: SYSTEM,
      because: 'a refresh token came again after its use',
    });
    return true;
  });
}

const LOOK_MS = 50;
const LOOKS = 60;

/**
 * Tells whether another request has exchanged this token a moment ago, so that its response is there for this one too.
 * Waits for that response where it is being made.
 */
export async function isExchangedNow({ database, config }: Deps, { token, clientId }: Presented): Promise<boolean> {
  const stored = storedAs(token, config.PRODUCT_TAG);
  for (let look = 0; look < LOOKS; look += 1) {
    const exchange = await readExchange(database, stored, clientId);
    if (exchange === undefined || exchange.hasResponse) return exchange !== undefined;
    await sleep(LOOK_MS);
  }
  return false;
}

function readExchange(db: Db, stored: string, clientId: string): Promise<{ hasResponse: boolean } | undefined> {
  return db.row`
    select rotation_replay_response is not null as "hasResponse" from oauth_refresh_tokens
    where token = ${stored} and client_id = ${clientId} and rotated_at is not null
      and rotation_replay_expires_at >= now()
  `;
}

/** Returns a refresh token as the library stores it. */
function storedAs(token: string, productTag: string): string {
  const prefix = tokenPrefix(productTag, 'refresh');
  return hash('sha256', token.startsWith(prefix) ? token.slice(prefix.length) : token, 'base64url');
}
