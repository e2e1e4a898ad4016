import { execute, row, rows, sql, type Db } from '#lib/database/index.ts';

/** A key pair of a device or a password manager, of which the public half is here. */
export interface Passkey {
  /** The credential id, base64url. */
  readonly id: string;
  readonly userId: string;
  readonly publicKey: Buffer;
  /** Signatures that it claims to have made; 0 where it does not count. */
  readonly counter: number;
}

export interface ListedPasskey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** The most passkeys of one person. */
export const MAX_PASSKEYS = 10;

export function listPasskeys(db: Db, userId: string): Promise<ListedPasskey[]> {
  return rows<ListedPasskey>(
    db,
    sql`
      select id, name, created_at as "createdAt", last_used_at as "lastUsedAt" from passkeys
      where user_id = ${userId} order by created_at, id
    `,
  );
}

export function findPasskey(db: Db, id: string): Promise<Passkey | undefined> {
  return row<Passkey>(
    db,
    sql`
      select id, user_id as "userId", public_key as "publicKey", counter from passkeys where id = ${id}
    `,
  );
}

/** Keeps a new passkey. @returns false where its id is there already, or the person has as many as one may */
export async function insertPasskey(
  tx: Db,
  { id, userId, name, publicKey, counter }: Passkey & { readonly name: string },
): Promise<boolean> {
  // Held, so that passkeys that are added at the same time are counted one after the other.
  await row(tx, sql`select 1 from second_factors where user_id = ${userId} for update`);
  const inserted = await execute(
    tx,
    sql`
      insert into passkeys (id, user_id, name, public_key, counter)
      select ${id}, ${userId}, ${name}, ${publicKey}, ${counter}
      where (select count(*) from passkeys where user_id = ${userId}) < ${MAX_PASSKEYS}
      on conflict (id) do nothing
    `,
  );
  return inserted === 1;
}

/**
 * Notes a use with the new count of signatures. @returns false where another request has noted the same or a later one,
 * or the passkey is gone
 */
export async function notePasskeyUse(db: Db, { id, counter }: Pick<Passkey, 'id' | 'counter'>) {
  const noted = await execute(
    db,
    sql`
      update passkeys set counter = ${counter}, last_used_at = now()
      where id = ${id} and (counter < ${counter} or counter = 0 and ${counter} = 0)
    `,
  );
  return noted === 1;
}

export async function removePasskey(
  tx: Db,
  { id, userId }: Pick<Passkey, 'id' | 'userId'>,
): Promise<boolean> {
  return (
    (await execute(tx, sql`delete from passkeys where id = ${id} and user_id = ${userId}`)) === 1
  );
}
