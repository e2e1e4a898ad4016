import { sql, type Sql } from '#lib/database/index.ts';
import { routineId } from './bulk.ts';

/** A list of the API with a filter of its own. */
export interface List {
  readonly name: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The rows it shows, as `from … where …`, to find the cursor of a page with. */
  readonly from: (projectId: string) => Sql;
  /** Set where only a session may call it, and no API key. */
  readonly session?: true;
}

const OF_ROUTINE = `/v1/routines/${routineId(0)}`;

function runs(name: string, query: Readonly<Record<string, string>> = {}): List {
  return {
    name,
    path: '/v1/runs',
    query,
    from: (projectId) => sql`from runs where project_id = ${projectId} ${filtered(query)}`,
  };
}

function runsOfRoutine(name: string, query: Readonly<Record<string, string>> = {}): List {
  return {
    name,
    path: `${OF_ROUTINE}/runs`,
    query,
    from: (projectId) => sql`
      from runs where project_id = ${projectId} and routine_id = ${routineId(0)} ${filtered(query)}
    `,
  };
}

function filtered({ state = null, trigger = null }: Readonly<Record<string, string | null>>): Sql {
  return sql`
    and (${state}::text is null or state = ${state}) and (${trigger}::text is null or trigger = ${trigger})
  `;
}

/** Every list of a project's own things; the first is what the others are held against. */
export const LISTS: readonly [List, ...List[]] = [
  runs('runs'),
  runs('runs, failed', { state: 'failed' }),
  runsOfRoutine('runs of a routine'),
  runsOfRoutine('runs of a routine, failed', { state: 'failed' }),
  {
    name: 'routines',
    path: '/v1/routines',
    query: {},
    from: (projectId) => sql`from routines where project_id = ${projectId}`,
  },
  {
    name: 'skills',
    path: '/v1/skills',
    query: {},
    from: (projectId) => sql`from skills where project_id = ${projectId}`,
  },
  {
    name: 'API keys',
    path: '/v1/api-keys',
    query: {},
    session: true,
    from: (projectId) => sql`from api_keys where project_id = ${projectId}`,
  },
  {
    name: 'connections',
    path: '/v1/connections',
    query: {},
    from: (projectId) => sql`from connections where project_id = ${projectId}`,
  },
  {
    name: 'tools of a routine',
    path: `${OF_ROUTINE}/tools`,
    query: {},
    from: (projectId) => sql`
      from tool_policies where project_id = ${projectId} and routine_id = ${routineId(0)}
    `,
  },
];

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

/** Filters that few runs pass, and a window of time deep in the past. */
export const RARE: readonly List[] = [
  runs('runs, running', { state: 'running' }),
  runs('runs, manual', { trigger: 'manual' }),
  runsOfRoutine('runs of a routine, manual', { trigger: 'manual' }),
  runs('runs, cancelled', { state: 'cancelled' }),
  runsOfRoutine('runs of a routine, cancelled', { state: 'cancelled' }),
  runs('runs of a week, a week ago', { since: daysAgo(9), until: daysAgo(7) }),
];

/** Lists every run, a hundred on a page. */
export const NO_FILTER = {
  routineId: undefined,
  state: undefined,
  trigger: undefined,
  outcome: undefined,
  backfillId: undefined,
  since: undefined,
  until: undefined,
  page: { limit: 100, after: undefined },
} as const;
