import type { Shape } from '#ui/api/types.ts';

export type Scope = Shape<'ApiKey'>['scopes'][number];

/** Says of each scope what it allows. */
export const SCOPE_LABELS: Readonly<Record<Scope, string>> = {
  'models:read': 'Read the models',
  'routines:read': 'Read routines',
  'runs:read': 'Read runs',
  'connections:read': 'Read connections and tools',
  'runs:write': 'Start and stop runs',
  'routines:write': 'Change, activate and pause routines',
  'connections:write': 'Change connections and tools',
};

/** A level of access that a person gives to a program: a set of scopes. */
export interface Level {
  readonly value: 'read' | 'run' | 'build';
  readonly label: string;
  readonly description: string;
  readonly scopes: readonly Scope[];
}

const READING: readonly Scope[] = ['models:read', 'routines:read', 'runs:read', 'connections:read'];

export const READ: Level = {
  value: 'read',
  label: 'Read',
  description: 'Sees routines, runs and their results. Changes nothing.',
  scopes: READING,
};

/** Lists the levels, each with all of the one before. None may change which tools are there. */
export const LEVELS: readonly Level[] = [
  READ,
  {
    value: 'run',
    label: 'Run',
    description: 'Also starts and cancels runs, which spend.',
    scopes: [...READING, 'runs:write'],
  },
  {
    value: 'build',
    label: 'Build',
    description: 'Also writes, activates and archives routines and skills.',
    scopes: [...READING, 'runs:write', 'routines:write'],
  },
];
