import type { Shape } from '#ui/api/types.ts';

export type Scope = Shape<'ApiKey'>['scopes'][number];

export const SCOPE_LABELS: Readonly<Record<Scope, string>> = {
  'models:read': 'Read the models',
  'routines:read': 'Read routines',
  'runs:read': 'Read runs',
  'connections:read': 'Read connections and tools',
  'runs:write': 'Start and stop runs',
  'routines:write': 'Change, activate and pause routines',
  'connections:write': 'Change connections and tools',
  'actions:write': 'Approve and reject held calls',
};

/** A level of access that a person gives to a program: a set of scopes. */
export interface Level {
  readonly value: 'read' | 'run' | 'build';
  readonly label: string;
  readonly description: string;
  readonly scopes: readonly Scope[];
}

const READING: readonly Scope[] = ['models:read', 'routines:read', 'runs:read', 'connections:read'];

/** The levels, each including the previous one. None may change tools. */
const LEVELS: readonly Level[] = [
  {
    value: 'read',
    label: 'Read',
    description: 'Sees routines, runs and their results. Changes nothing.',
    scopes: READING,
  },
  {
    value: 'run',
    label: 'Run',
    description: 'Also starts and cancels runs, which cost money.',
    scopes: [...READING, 'runs:write'],
  },
  {
    value: 'build',
    label: 'Build',
    description: 'Also writes, activates and archives routines and skills.',
    scopes: [...READING, 'runs:write', 'routines:write'],
  },
];

/**
 * Lists the levels of access, each with its requested scopes. Leaves out a level that adds no scope.
 * @param asked scopes that the program asks for; undefined for all
 */
export function levelsFor(asked: readonly Scope[] | undefined): readonly Level[] {
  const levels = LEVELS.map((level) => ({
    ...level,
    scopes: level.scopes.filter((scope) => asked?.includes(scope) ?? true),
  }));
  return levels.filter(({ scopes }, place) => scopes.length > (levels[place - 1]?.scopes.length ?? 0));
}

/** Names the level of a program: the lowest one with all of its scopes. */
export function levelName(scopes: readonly Scope[]): string {
  const level = LEVELS.find((each) => scopes.every((scope) => each.scopes.includes(scope)));
  return level?.label ?? 'More than build';
}

/** Returns true for a level that only owners and admins can give. */
export function isWriting({ scopes }: Pick<Level, 'scopes'>): boolean {
  return scopes.some((scope) => scope.endsWith(':write'));
}
