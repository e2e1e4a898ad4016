export const SCOPES = [
  'models:read',
  'routines:read',
  'routines:write',
  'runs:read',
  'runs:write',
  'connections:read',
  'connections:write',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Lists the scopes of a key whose creator names none. */
export const DEFAULT_SCOPES = [
  'models:read',
  'routines:read',
  'runs:read',
  'runs:write',
] as const satisfies readonly Scope[];
