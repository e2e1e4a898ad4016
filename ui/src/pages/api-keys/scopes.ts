import type { Shape } from '#ui/api/types.ts';

export type Scope = Shape<'ApiKey'>['scopes'][number];

export interface ScopeChoice {
  readonly scope: Scope;
  readonly label: string;
  /** The rights that its label does not name. */
  readonly note?: string;
  /** Owners and admins only, on the plans that let the API write. */
  readonly writes: boolean;
}

/** Lists what a key can be allowed to do, in the order in which people ask for it. */
export const SCOPE_CHOICES: readonly ScopeChoice[] = [
  { scope: 'models:read', label: 'Read the models', writes: false },
  { scope: 'routines:read', label: 'Read routines', writes: false },
  { scope: 'runs:read', label: 'Read runs', writes: false },
  { scope: 'connections:read', label: 'Read connections and tools', writes: false },
  {
    scope: 'runs:write',
    label: 'Start and stop runs',
    note: 'Values that it gives for a run are material, not instructions, unless it may change routines too.',
    writes: true,
  },
  { scope: 'routines:write', label: 'Change, activate and pause routines', writes: true },
  { scope: 'connections:write', label: 'Change connections and tools', writes: true },
];

/** Scopes that are chosen for a new key at first, the same as in the API. */
export const DEFAULT_SCOPES: readonly Scope[] = [
  'models:read',
  'routines:read',
  'runs:read',
  'runs:write',
];

/** Returns true for what a key of a member may have, too. */
export function isRead(scope: Scope): boolean {
  return scope.endsWith(':read');
}
