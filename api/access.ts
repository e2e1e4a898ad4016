import { SYSTEM, type Actor } from '#core/foundation/audit/index.ts';
import type { PaymentEvent, Plan } from '#core/accounts/billing/index.ts';
import type { Role, Scope } from '#core/accounts/organizations/index.ts';

export type { Scope } from '#core/accounts/organizations/index.ts';

/** The kinds of callers that an operation serves. */
export type AuthKind =
  | 'none'
  /** A signed-in person, with or without an active project. */
  | 'session'
  /** A signed-in person with an active project. */
  | 'project-session'
  /** A signed-in person with an active project, who manages their own accounts. A key cannot act as the owner. */
  | 'owner-session'
  /** A signed-in person who returns from a provider. The sign-in at the provider names the project. */
  | 'returning-owner'
  /** A bearer key, or a signed-in person with an active project. */
  | 'key-or-session'
  /** A signed-in person who owns the organization of the active project. */
  | 'org-owner-session'
  /** A program that knows the secret for `X-Scheduler-Secret`. */
  | 'scheduler-secret'
  /** Any visitor, if the request comes from a page of the dashboard. */
  | 'ui-origin'
  /** The payment processor, recognized by its signature over the raw body. */
  | 'stripe-signature';

export interface SessionAccess {
  readonly kind: 'session';
  /** The id of the session's row, not the token in the cookie. */
  readonly sessionId: string;
  readonly userId: string;
  /** Time of the last proof of identity. */
  readonly provenAt: Date;
}

/** The tenant of a request. Every query of a tenant's table takes its `projectId`. */
export interface ProjectAccess {
  readonly projectId: string;
  readonly organizationId: string;
  readonly plan: Plan;
  readonly actor:
    | { readonly kind: 'key'; readonly keyId: string; readonly scopes: readonly Scope[] }
    /** An assistant over MCP, which acts for a person with their consent. */
    | {
        readonly kind: 'assistant';
        readonly grantId: string;
        readonly userId: string;
        readonly scopes: readonly Scope[];
      }
    | {
        readonly kind: 'session';
        readonly sessionId: string;
        readonly userId: string;
        readonly role: Role;
      };
}

/** Returns the id under which the caller's changes are recorded: the person's, or the API key's. */
export function actorId({ actor }: ProjectAccess): string {
  return actor.kind === 'key' ? actor.keyId : actor.userId;
}

/** Returns the id of the credential: of the API key, the session or the consent. */
export function credentialId({ actor }: ProjectAccess): string {
  if (actor.kind === 'session') return actor.sessionId;
  return actor.kind === 'key' ? actor.keyId : actor.grantId;
}

/** Returns the credential of a program; null for a person. A program may not decide about actions of its own runs. */
export function programOf(access: ProjectAccess): string | null {
  return access.actor.kind === 'session' ? null : credentialId(access);
}

/** Tells whether the caller may write routines. Values that other callers give a run never act as instructions. */
export function mayWriteRoutines({ actor }: ProjectAccess): boolean {
  return actor.kind === 'session' || actor.scopes.includes('routines:write');
}

/** The protocol and the client's name, for a call that is not plain HTTP. */
export type Via = NonNullable<Actor['via']>;

/** A caller with an id: a person or a key. */
export type Caller = Actor & { readonly id: string };

export type ActorOf<A extends AuthKind> = A extends 'none' | 'scheduler-secret' | 'ui-origin' | 'stripe-signature'
  ? Actor
  : Caller;

/** Returns the caller in the form in which audit events name actors. */
export function actorOf(access: AccessOf<AuthKind>, address: string): Actor {
  if (access === undefined || 'clientAddress' in access || 'event' in access) {
    return { ...SYSTEM, address };
  }
  if ('userId' in access) return { kind: 'person', id: access.userId, address };
  const { actor } = access;
  return actor.kind === 'key'
    ? { kind: 'key', id: actor.keyId, address }
    : { kind: 'person', id: actor.userId, address };
}

export interface ProjectSessionAccess extends ProjectAccess {
  readonly actor: Extract<ProjectAccess['actor'], { kind: 'session' }>;
}

/** A caller without an account, known only by address. */
export interface VisitorAccess {
  readonly clientAddress: string;
}

/** A verified event of the payment processor. */
export interface PaymentEventAccess {
  readonly event: PaymentEvent;
}

export type AccessOf<A extends AuthKind> = A extends 'session' | 'returning-owner'
  ? SessionAccess
  : A extends 'project-session' | 'owner-session' | 'org-owner-session'
    ? ProjectSessionAccess
    : A extends 'key-or-session'
      ? ProjectAccess
      : A extends 'ui-origin'
        ? VisitorAccess
        : A extends 'stripe-signature'
          ? PaymentEventAccess
          : undefined;
