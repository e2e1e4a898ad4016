import { useNavigate } from '@tanstack/react-router';
import { ListChecks, Play, Search, Sparkles } from 'lucide-react';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { lineOf } from '#ui/format/run-words.ts';
import { dateTime } from '#ui/format/times.ts';
import { commandOf, useRoutineVerbs, type Group } from './commands.ts';
import { fits, orderOf } from './match.ts';

const EACH = 5;
/** The server has no search for skills, so all skills are read once. */
const SKILLS = { query: { limit: 200 } } as const;

interface Found {
  readonly groups: readonly Group[];
  readonly isLooking: boolean;
  /** The reason why a search failed. */
  readonly fault: string | undefined;
}

/** Searches routines, summaries of runs, and skills; "pause harbour" finds actions of a routine. */
export function useFound(text: string): Found {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const verbs = useRoutineVerbs();
  const order = orderOf(text, verbs);
  const options = { enabled: text !== '', keepPrevious: true };
  const routines = useRead('/v1/routines', { query: { q: text, limit: EACH } }, options);
  const ordered = useRead(
    '/v1/routines',
    { query: { limit: EACH, ...(order === undefined || order.name === '' ? {} : { q: order.name }) } },
    { ...options, enabled: order !== undefined },
  );
  const runs = useRead('/v1/runs', { query: { q: text, limit: EACH } }, options);
  const skills = useRead('/v1/skills', SKILLS, options);
  const reads = [routines, runs, skills, ...(order === undefined ? [] : [ordered])];
  if (text === '') return { groups: [], isLooking: false, fault: undefined };
  const groups: readonly Group[] = [
    {
      label: 'Do',
      commands: (order === undefined ? [] : (ordered.data ?? [])).flatMap((routine) =>
        (order?.verbs ?? []).flatMap((verb) => commandOf(verb, routine, routine.name)),
      ),
    },
    {
      label: 'Routines',
      commands: (routines.data ?? []).map(({ id, name, state }) => ({
        value: id,
        label: name,
        hint: state,
        icon: ListChecks,
        run: () => void navigate({ to: '/p/$projectId/routines/$routineId', params: { projectId, routineId: id } }),
      })),
    },
    {
      label: 'Runs',
      commands: [
        ...(runs.data ?? []).map((run) => ({
          value: run.id,
          label: `${run.routineName}, ${dateTime(new Date(run.createdAt))}`,
          hint: lineOf(run) ?? '',
          icon: Play,
          run: () => void navigate({ to: '/p/$projectId/runs/$runId', params: { projectId, runId: run.id } }),
        })),
        ...((runs.data ?? []).length < EACH
          ? []
          : [
              {
                value: 'all-runs',
                label: `All runs with “${text}”`,
                icon: Search,
                run: () => void navigate({ to: '/p/$projectId/runs', params: { projectId }, search: { q: text } }),
              },
            ]),
      ],
    },
    {
      label: 'Skills',
      commands: (skills.data ?? [])
        .flatMap(({ id, slug, name, description }) => {
          const skillId = id ?? slug ?? '';
          const read = {
            value: skillId,
            label: name,
            hint: description ?? '',
            icon: Sparkles,
            run: () => void navigate({ to: '/p/$projectId/skills/$skillId', params: { projectId, skillId } }),
          };
          const use = {
            ...read,
            value: `use ${skillId}`,
            label: `Use ${name} in a routine`,
            run: () =>
              void navigate({ to: '/p/$projectId/routines/new', params: { projectId }, search: { skill: skillId } }),
          };
          return [read, ...(/^use\b/i.test(text) ? [use] : [])].filter((each) => fits(each, text));
        })
        .slice(0, EACH),
    },
  ];
  return {
    groups,
    isLooking: reads.some(({ data, error }) => data === undefined && error === null),
    fault: reads.find(({ error }) => error !== null)?.error?.message,
  };
}
