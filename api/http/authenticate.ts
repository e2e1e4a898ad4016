import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import { effectivePlan, mayWrite, verifyEvent, writeRefused } from '#core/accounts/billing/index.ts';
import { assertFreshProof, authenticateKey, findMemberships, stillStands } from '#core/accounts/identity/index.ts';
import { touchApiKey } from '#core/accounts/organizations/index.ts';
import { countUse, type WindowUse } from '#core/foundation/rate-limits/index.ts';
import { persistently } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { idPattern } from '#lib/ids.ts';
import type { AccessOf, AuthKind, ProjectAccess } from '../access.ts';
import type { Deps } from '../deps.ts';
import type { RouteSpec } from '../route.ts';
import { readBody } from './body.ts';
import { networkOf } from './client-address.ts';

/**
 * Identifies the caller and its tenant and checks the limits, before the body is read.
 * @throws {AppError} of authentication, rate limit, scope, plan, origin and project selection
 */
export async function authenticate(ctx: Context, spec: RouteSpec, deps: Deps): Promise<AccessOf<AuthKind>> {
  switch (spec.auth) {
    case 'none':
      return undefined;
    case 'scheduler-secret':
      assertSchedulerSecret(ctx.get('x-scheduler-secret'), deps.config.SCHEDULER_SECRET);
      return undefined;
    case 'session':
    case 'returning-owner':
      return sessionAccess(ctx, spec, deps);
    case 'project-session':
    case 'owner-session':
      return projectOfSession(ctx, spec, deps);
    case 'org-owner-session':
      return ownerAccess(ctx, spec, deps);
    case 'ui-origin':
      assertOrigin(ctx, deps);
      return { clientAddress: deps.clientAddress(ctx.req) };
    case 'stripe-signature':
      return { event: await signedEvent(ctx, deps) };
    case 'key-or-session':
      return ctx.get('authorization') === '' ? projectOfSession(ctx, spec, deps) : keyAccess(ctx, spec, deps);
  }
}

/** Looks up the key of a request and counts the request, even when it is refused later. */
export async function countedKey(ctx: Context, deps: Deps) {
  const presented = bearerOf(ctx);
  const address = networkOf(deps.clientAddress(ctx.req));
  const key = await deps.keyAttempts.lookUp({ address, presented }, async () =>
    presented === '' ? undefined : authenticateKey(deps.database, deps.config.PRODUCT_TAG, presented),
  );
  if (key === undefined) {
    const isBearer = /^Bearer /i.test(ctx.get('authorization'));
    throw new AppError('invalid_api_key', isBearer ? undefined : NO_BEARER, CHALLENGE);
  }
  ctx.state.projectId = key.projectId;
  ctx.state.actor = key.keyId;
  assertWithinLimit(ctx, key.use, deps);
  if (key.stale) {
    touchApiKey(deps.database, key.keyId).catch((err: unknown) =>
      deps.log.warn({ err, keyId: key.keyId }, 'the use of a key could not be recorded'),
    );
  }
  return key;
}

/** Returns the bearer token of a request; empty without a token. */
export function bearerOf(ctx: Context): string {
  return /^Bearer ([\x21-\x7e]{1,200})$/i.exec(ctx.get('authorization'))?.[1] ?? '';
}

async function keyAccess(ctx: Context, spec: RouteSpec, deps: Deps): Promise<ProjectAccess> {
  const access = accessOfKey(await countedKey(ctx, deps), deps);
  await assertPermitted(spec, access, deps);
  return access;
}

/** Returns the access of a key, before its scopes are checked. */
export function accessOfKey(key: Awaited<ReturnType<typeof countedKey>>, { planRule }: Deps): ProjectAccess {
  return {
    projectId: key.projectId,
    organizationId: key.organizationId,
    plan: effectivePlan(planRule, key.paidPlan),
    actor: { kind: 'key', keyId: key.keyId, scopes: key.scopes },
  };
}

/** Checks that a caller with scopes may call an operation. @throws {AppError} of scope and plan */
export async function assertPermitted(
  { scope, method }: RouteSpec,
  { actor, plan, organizationId }: ProjectAccess,
  { database }: Deps,
): Promise<void> {
  if (actor.kind === 'session') return;
  if (scope !== undefined && !actor.scopes.includes(scope)) {
    const holder = actor.kind === 'key' ? 'The API key' : 'The access that this assistant was given';
    throw new AppError('insufficient_scope', `${holder} lacks the scope ${scope}.`);
  }
  if (method !== 'GET' && !mayWrite(plan, 'key')) {
    throw await writeRefused(database, { organizationId, plan });
  }
}

async function sessionAccess(ctx: Context, spec: RouteSpec, deps: Deps) {
  if (ctx.get('authorization') !== '') {
    await countedKey(ctx, deps);
    throw new AppError('session_required');
  }
  const session = await deps.auth.session(new Headers({ cookie: ctx.get('cookie') }));
  if (session === undefined) throw new AppError('authentication_required', undefined, CHALLENGE);
  ctx.state.actor = session.userId;
  // The browser must get the prolonged cookie, or it would drop the cookie a week after the sign-in.
  if (session.setCookies.length > 0) ctx.set('Set-Cookie', [...session.setCookies]);
  assertWithinLimit(ctx, await countUse(deps.database, session.id), deps);
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') assertOrigin(ctx, deps);
  if (spec.fresh === true) assertFreshProof(session);
  const { id: sessionId, userId, provenAt } = session;
  return { kind: 'session' as const, sessionId, userId, provenAt };
}

async function projectOfSession(ctx: Context, spec: RouteSpec, deps: Deps) {
  const session = await sessionAccess(ctx, spec, deps);
  const { sessionId, userId } = session;
  const selected = ctx.get('x-project-id') || ctx.cookies.get(`${deps.config.PRODUCT_TAG}_project`);
  if (selected !== undefined && !idPattern('project').test(selected)) {
    throw new AppError('project_not_found');
  }
  const [membership, another] = await findMemberships(deps.database, session, selected);
  if (membership === undefined) {
    throw new AppError(selected === undefined ? 'project_required' : 'project_not_found');
  }
  // Only a person with one project need not select it: with several, a guess could select the wrong tenant.
  if (another !== undefined) throw new AppError('project_required');
  if (membership.mustProve) throw new AppError('reauthentication_required');
  if (membership.lacksSecondFactor) throw new AppError('second_factor_required');
  ctx.state.projectId = membership.projectId;
  return {
    projectId: membership.projectId,
    organizationId: membership.organizationId,
    plan: effectivePlan(deps.planRule, membership.paidPlan),
    actor: { kind: 'session' as const, sessionId, userId, role: membership.role },
  };
}

async function ownerAccess(ctx: Context, spec: RouteSpec, deps: Deps) {
  const access = await projectOfSession(ctx, spec, deps);
  if (access.actor.role !== 'owner') throw new AppError('owner_required');
  return access;
}

function assertOrigin(ctx: Context, deps: Deps): void {
  if (ctx.get('origin') !== deps.config.UI_ORIGIN) throw new AppError('origin_not_allowed');
}

/** The signature covers the raw bytes, so the body is read before it is parsed. */
async function signedEvent(ctx: Context, { payment }: Deps) {
  const signature = ctx.get('stripe-signature');
  if (signature === '') throw new AppError('invalid_signature');
  const body = await readBody(ctx, MAX_EVENT_BYTES);
  return verifyEvent(payment.processor, { body, signature });
}

const MAX_EVENT_BYTES = 512 * 1024;

export function assertWithinLimit(ctx: Context, use: WindowUse, deps: Deps): void {
  const limit = deps.config.RATE_LIMIT_PER_MINUTE;
  ctx.set('X-RateLimit-Limit', String(limit));
  ctx.set('X-RateLimit-Remaining', String(Math.max(limit - use.count, 0)));
  ctx.set('X-RateLimit-Reset', String(Math.max(use.resetSeconds, 1)));
  if (use.count > limit) {
    throw new AppError('rate_limited', undefined, {
      'Retry-After': String(Math.max(use.resetSeconds, 1)),
    });
  }
}

function assertSchedulerSecret(presented: string, configured: string | undefined): void {
  if (configured === undefined) throw new AppError('scheduler_unavailable');
  // timingSafeEqual needs equal lengths. Hashes have equal lengths and hide the length of the secret.
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (!timingSafeEqual(digest(presented), digest(configured))) {
    throw new AppError('invalid_signature', 'The X-Scheduler-Secret header does not match.');
  }
}

const NO_BEARER = 'Send the API key as a bearer token: `Authorization: Bearer <key>`.';
const CHALLENGE = { 'WWW-Authenticate': 'Bearer' };

/**
 * Tells whether the caller's credential would be accepted now, without counting a request. Waits while Postgres is
 * away, until `signal` aborts.
 */
export function isStillAllowed(
  access: AccessOf<AuthKind>,
  { scope }: RouteSpec,
  { database }: Pick<Deps, 'database'>,
  signal: AbortSignal,
): Promise<boolean> {
  if (access === undefined || !('actor' in access)) {
    throw new Error('only streams of a project are served');
  }
  const { actor, projectId } = access;
  const standing = { ...actor, projectId, scope };
  return persistently(() => stillStands(database, standing), signal);
}
