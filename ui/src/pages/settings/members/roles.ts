import type { Shape } from '#ui/api/types.ts';

export type Member = Shape<'Member'>;
export type Invitation = Shape<'Invitation'>;
/** An invitation with its token, which no later response shows. */
export type NewInvitation = Shape<'CreatedInvitation'>;
export type Role = Member['role'];

/** Describes each role for people who assign one. */
export const ROLES: readonly {
  readonly value: Role;
  readonly label: string;
  readonly hint: string;
}[] = [
  { value: 'owner', label: 'Owner', hint: 'Everything, with plan, payment and deletion' },
  {
    value: 'admin',
    label: 'Admin',
    hint: 'Members, projects, budgets, keys that write, the audit log',
  },
  { value: 'member', label: 'Member', hint: 'Routines, runs, skills and connections' },
];

export function roleName(role: Role): string {
  return ROLES.find(({ value }) => value === role)?.label ?? role;
}
