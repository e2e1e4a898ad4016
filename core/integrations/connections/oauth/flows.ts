import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { isStillMember } from '#core/accounts/identity/index.ts';
import { deleteBatch, sql, type Db } from '#lib/database/index.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import { authorizationServer, oauthClient } from './authorization-server.ts';
import { callbackOf } from './client.ts';

/** The person who began a sign-in, and the connection to sign in to. */
export interface FlowOwner {
  readonly projectId: string;
  readonly userId: string;
  /**
   * Id of the browser session in which the sign-in began, not the token of its cookie. No other session can end the
   * sign-in.
   */
  readonly sessionId: string;
  /** A managed provider, or `tool-server`. */
  readonly provider: string;
  /** Connection to sign in to, for the first time or again; null for a sign-in that makes a new connection. */
  readonly connectionId: string | null;
  /** The name of a new connection. */
  readonly name: string | null;
}

/** Secrets of a sign-in, stored sealed until it ends. */
const flowSecrets = z.strictObject({
  verifier: z.string(),
  issued: z.strictObject({ server: authorizationServer, client: oauthClient }).nullable(),
  /** The address of the tool server. */
  url: z.string().nullable(),
  resource: z.string().nullable(),
  scope: z.string().nullable(),
});
export type FlowSecrets = z.output<typeof flowSecrets>;
export type Flow = FlowOwner & FlowSecrets;

/** Stores a sign-in for ten minutes under the hash of its state. */
export async function insertFlow(
  db: Db,
  box: SecretBox,
  state: string,
  owner: FlowOwner,
  secrets: FlowSecrets,
): Promise<Date> {
  const hash = hashOf(state);
  const sealed = box.seal(JSON.stringify(secrets), place(hash));
  return db.value<Date>`
    insert into oauth_flows (state_hash, project_id, user_id, session_id, provider, connection_id, name, sealed,
      expires_at)
    values (${hash}, ${owner.projectId}, ${owner.userId}, ${owner.sessionId}, ${owner.provider},
      ${owner.connectionId}, ${owner.name}, ${sealed}, now() + interval '10 minutes')
    returning expires_at
  `;
}

/** The data with which a browser returns from a provider. */
export interface Presented {
  readonly state: string;
  readonly userId: string;
  /** Session of the browser. Only the session that began a sign-in can end the sign-in. */
  readonly sessionId: string;
  /** Name of the callback that received the return. */
  readonly callback: string;
}

/**
 * Takes a sign-in. A state works once, in its session, at its callback, while the person is in the project. Any return
 * in that session uses the state up, even a faulty return. A state that arrives in another session, even of the same
 * person, may be an attack (RFC 9700, section 4.7) and changes nothing.
 */
export async function takeFlow(db: Db, box: SecretBox, presented: Presented): Promise<Flow | undefined> {
  const hash = hashOf(presented.state);
  // If `sealed` is empty, the sign-in was taken before. `connection_id` is set again once the connection exists.
  const taken = await db.row<FlowOwner & { sealed: string; live: boolean; member: boolean }>`
    with flow as (
      select * from oauth_flows
      where state_hash = ${hash} and user_id = ${presented.userId} and session_id = ${presented.sessionId}
        and sealed <> ''
      for update
    )
    update oauth_flows set sealed = '', connection_id = null from flow f where oauth_flows.state_hash = f.state_hash
    returning f.project_id as "projectId", f.user_id as "userId", f.session_id as "sessionId", f.provider,
      f.connection_id as "connectionId", f.name, f.sealed, f.expires_at > now() as live, ${isStillMember(sql`f`)} as member
  `;
  if (taken === undefined) return undefined;
  const { sealed, live, member, ...owner } = taken;
  const flow = { ...owner, ...flowSecrets.parse(JSON.parse(box.open(sealed, place(hash)))) };
  const callback = callbackOf(flow.provider, flow.issued?.server.issuer);
  if (live && member && presented.callback === callback) return flow;
  await forgetFlow(db, flow, presented.state);
  return undefined;
}

/** Stores the connection that a sign-in has made, for a browser that opens the return again. */
export async function endFlow(
  db: Db,
  { projectId, id }: { readonly projectId: string; readonly id: string },
  state: string,
): Promise<void> {
  await db.run`
    update oauth_flows set connection_id = ${id} where state_hash = ${hashOf(state)} and project_id = ${projectId}
  `;
}

/** Deletes a sign-in that has failed. */
export async function forgetFlow(db: Db, { projectId }: Pick<Flow, 'projectId'>, state: string): Promise<void> {
  await db.run`delete from oauth_flows where state_hash = ${hashOf(state)} and project_id = ${projectId}`;
}

/** Finds the connection of a sign-in that this session has ended or is ending. */
export function findMadeConnection(db: Db, { state, userId, sessionId }: Presented): Promise<Made | undefined> {
  return untilMade(
    () => db.row`
      select f.project_id as "projectId", f.connection_id as "connectionId" from oauth_flows f
      where f.state_hash = ${hashOf(state)} and f.user_id = ${userId} and f.session_id = ${sessionId}
        and f.sealed = '' and f.expires_at > now() and ${isStillMember(sql`f`)}
    `,
  );
}

/** The connection that a sign-in has made or renewed. */
export interface Made {
  readonly projectId: string;
  readonly connectionId: string;
}

/** Longest wait for another request: longer than the requests to a provider at the end of a sign-in take. */
const WAIT_MS = 30_000;

/**
 * Waits for the connection of a sign-in that another request ends, perhaps in another process: browsers open the same
 * return twice at once.
 * @param read reads the sign-in; undefined once it has failed
 */
export async function untilMade(
  read: () => Promise<{ readonly projectId: string; readonly connectionId: string | null } | undefined>,
): Promise<Made | undefined> {
  for (const until = performance.now() + WAIT_MS; performance.now() < until; await sleep(200)) {
    const found = await read();
    if (found === undefined) return undefined;
    const { projectId, connectionId } = found;
    if (connectionId !== null) return { projectId, connectionId };
  }
  return undefined;
}

/** Deletes sign-ins that were not completed in time, `limit` at most; returns how many. */
export function forgetSignIns(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'oauth_flows',
    where: sql`expires_at <= now()`,
    orderBy: sql`expires_at`,
    limit,
  });
}

function hashOf(state: string): Buffer {
  return createHash('sha256').update(state).digest();
}

function place(hash: Buffer) {
  return { table: 'oauth_flows', row: hash.toString('hex'), column: 'sealed' };
}
