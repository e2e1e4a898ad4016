import { recordAudit, type Actor } from '#core/foundation/audit/index.ts';
import type { Auth } from '#core/accounts/identity/index.ts';
import { assertAdmin, holdProject, SCOPES, type Scope } from '#core/accounts/organizations/index.ts';
import { transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { findClient, isRedirectOf, shownName, type AssistantClient } from './clients.ts';
import { mailApproval, type Access } from './mail.ts';
import { includeWriting } from './terminals.ts';

/** An assistant's request, with the facts that the deciding person sees. */
export interface AskedConsent {
  readonly clientId: string;
  readonly clientName: string;
  /** Host that receives the code; for an app, the scheme of its address. */
  readonly redirectHost: string;
  /** True if the operator has registered the client. */
  readonly isVerified: boolean;
  /** The requested scopes of this service. */
  readonly scopes: readonly Scope[];
}

/**
 * Reads a request from the query that the authorization server has signed. The signature is checked when the person
 * decides.
 * @throws {AppError} `attempt_not_found`, `attempt_expired`
 */
export async function readAskedConsent(db: Db, oauthQuery: string): Promise<AskedConsent> {
  const { client, redirectUri, scopes } = await parse(db, oauthQuery);
  const { protocol, host } = new URL(redirectUri);
  return {
    clientId: client.clientId,
    clientName: shownName(client),
    redirectHost: host === '' ? protocol : host,
    isVerified: !client.isDynamic,
    scopes,
  };
}

async function parse(db: Db, oauthQuery: string) {
  const query = new URLSearchParams(oauthQuery);
  const redirectUri = query.get('redirect_uri') ?? '';
  const client = await findClient(db, query.get('client_id') ?? '');
  if (client === undefined || !isRedirectOf(client, redirectUri)) {
    throw new AppError('attempt_not_found', 'The request comes from no assistant that is registered here.');
  }
  if (!(Number(query.get('exp')) * 1_000 > Date.now())) {
    throw new AppError('attempt_expired', 'The request has expired; begin again in the assistant.');
  }
  const asked = (query.get('scope') ?? '').split(' ');
  return { client, redirectUri, asked, scopes: SCOPES.filter((scope) => asked.includes(scope)) };
}

/**
 * Gives an assistant access to a project.
 * @returns the address to which the browser goes, with the code
 * @throws {AppError} those of `readAskedConsent`; `invalid_request` for scopes that were not requested; `forbidden` for
 * scopes that this person may give to no program, and when the project has switched MCP off
 */
export async function approveAssistant(
  { database, auth }: { readonly database: Database; readonly auth: Auth },
  by: Actor & { readonly id: string },
  input: Access & { readonly oauthQuery: string; readonly sessionId: string },
): Promise<{ readonly redirectTo: string }> {
  const { oauthQuery, sessionId, organizationId, projectId, scopes } = input;
  const { client, asked } = await parse(database, oauthQuery);
  if (!scopes.every((scope) => asked.includes(scope))) {
    throw new AppError('invalid_request', 'scopes: the assistant did not ask for these');
  }
  const given = { client, organizationId, projectId, scopes };
  await transaction(database, async (tx) => {
    await holdProject(tx, projectId);
    if (includeWriting(scopes)) await assertAdmin(tx, { organizationId, userId: by.id });
    const project = await tx.row<{ isOn: boolean }>`
      select mcp_enabled as "isOn" from projects where id = ${projectId}
    `;
    if (project?.isOn !== true) throw new AppError('forbidden', 'This project has switched MCP off.');
    // The library commits in a separate transaction. Write the event first, so that no consent lacks its event.
    await recordConsent(tx, by, 'assistant.approved', given);
    if (!includeWriting(scopes)) return;
    const program = `The assistant "${shownName(client)}"`;
    const page = 'settings?tab=assistants';
    await mailApproval(tx, { organizationId, projectId, userId: by.id, program, scopes, page });
  });
  const kept = asked.filter((scope) => scope === 'offline_access');
  const scope = [...scopes, ...kept].join(' ');
  const decide = () => auth.decideConsent({ oauthQuery, sessionId, accepts: { scope, projectId } });
  // The library first looks for a consent, then makes one. Repeat the later of two concurrent requests: it then finds
  // the consent of the first.
  const redirectTo = await decide().catch((error: unknown) => {
    const isDuplicate = error instanceof Error && 'code' in error && error.code === '23505';
    if (!isDuplicate) throw error;
    return decide();
  });
  await recordConsent(database, by, 'assistant.connected', given);
  return { redirectTo };
}

/**
 * Refuses an assistant.
 * @returns the address to which the browser goes, with the refusal
 */
export async function denyAssistant(
  { database, auth }: { readonly database: Db; readonly auth: Auth },
  { oauthQuery, sessionId }: { readonly oauthQuery: string; readonly sessionId: string },
): Promise<{ readonly redirectTo: string }> {
  await parse(database, oauthQuery);
  return { redirectTo: await auth.decideConsent({ oauthQuery, sessionId, accepts: undefined }) };
}

function recordConsent(
  db: Db,
  by: Actor,
  action: 'assistant.approved' | 'assistant.connected',
  given: Access & { readonly client: AssistantClient },
): Promise<void> {
  const { client, organizationId, projectId, scopes } = given;
  return recordAudit(db, {
    organizationId,
    projectId,
    by,
    action,
    targetId: client.clientId,
    details: { name: shownName(client), scopes: [...scopes] },
  });
}
