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

/** What a key may do when its creator names no scopes. */
export const DEFAULT_SCOPES = [
  'models:read',
  'routines:read',
  'runs:read',
  'runs:write',
] as const satisfies readonly Scope[];
