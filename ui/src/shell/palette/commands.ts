import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import {
  ArrowRightLeft,
  BookOpen,
  Keyboard,
  LayoutTemplate,
  LogOut,
  Plus,
  Settings,
  type LucideIcon,
} from 'lucide-react';
import { useRead } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import { useSignOut } from '#ui/api/session.ts';
import { APPROVE, REJECT } from '#ui/api/verbs/actions.ts';
import { ACTIVATE, ARCHIVE, PAUSE, RESTORE, RUN_NOW } from '#ui/api/verbs/routines.ts';
import { CANCEL_RUN, RUN_AGAIN } from '#ui/api/verbs/runs.ts';
import { useVerb, type Doing } from '#ui/api/verbs/verb.ts';
import { isOver } from '#ui/format/run-words.ts';
import { chooseTheme, THEMES } from '#ui/theme/theme.ts';
import { placesFor, SETTINGS } from '../navigation.ts';
import { useProjects } from '../projects.ts';
import type { Searched } from './match.ts';

export interface Command extends Searched {
  readonly value: string;
  readonly icon: LucideIcon;
  readonly keys?: readonly string[];
  readonly run: () => void;
}

export interface Group {
  readonly label: string;
  readonly commands: readonly Command[];
}

/** Returns the verbs of a routine that the palette offers. */
export function useRoutineVerbs() {
  return [useVerb(RUN_NOW), useVerb(ACTIVATE), useVerb(PAUSE), useVerb(ARCHIVE), useVerb(RESTORE)] as const;
}

/** Lists the actions for the routine, the run or the held call that is open. */
function useVerbsHere(): readonly Command[] {
  const { routineId = '', runId = '' } = useParams({ strict: false });
  const { data: routine } = useRead('/v1/routines/{routineId}', { path: { routineId } }, { enabled: routineId !== '' });
  const { data: run } = useRead('/v1/runs/{runId}', { path: { runId } }, { enabled: runId !== '' });
  const { action: actionId = '' }: { readonly action?: string } = useSearch({ strict: false });
  const { data: action } = useRead('/v1/actions/{actionId}', { path: { actionId } }, { enabled: actionId !== '' });
  const [approve, reject] = [useVerb(APPROVE), useVerb(REJECT)];
  const verbs = useRoutineVerbs();
  const [again, cancel] = [useVerb(RUN_AGAIN), useVerb(CANCEL_RUN)];
  return [
    ...(routine === undefined ? [] : verbs.flatMap((each) => commandOf(each, routine, routine.name))),
    ...(run === undefined ? [] : commandOf(isOver(run) ? again : cancel, run, run.routineName)),
    ...(action === undefined ? [] : [approve, reject].flatMap((each) => commandOf(each, action, action.toolName))),
  ];
}

/** Lists every command that needs no search, in groups. */
export function useCommands(onKeys: () => void): readonly Group[] {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const signOut = useSignOut();
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  const { groups } = useProjects();
  const here = { projectId };
  const places = placesFor(config.data).flat();
  return [
    { label: 'This page', commands: useVerbsHere() },
    {
      label: 'Create',
      commands: [
        {
          value: 'new-routine',
          label: 'New routine',
          words: 'create write',
          icon: Plus,
          run: () => void navigate({ to: '/p/$projectId/routines/new', params: here }),
        },
        {
          value: 'templates',
          label: 'Templates',
          words: 'create start first routine',
          icon: LayoutTemplate,
          run: () => void navigate({ to: '/p/$projectId/start', params: here }),
        },
      ],
    },
    {
      label: 'Go to',
      commands: places.map((place) => ({
        value: place.to,
        label: place.label,
        icon: place.icon,
        keys: ['G', place.key.toUpperCase()],
        run: () => void navigate({ to: place.to, params: here }),
      })),
    },
    {
      label: 'Settings',
      commands: [
        ...SETTINGS.map(({ value, label, words }) => ({
          value: `settings ${value}`,
          label,
          hint: 'Settings',
          words,
          icon: Settings,
          run: () => void navigate({ to: '/p/$projectId/settings', params: here, search: { tab: value } }),
        })),
        ...THEMES.map(({ value, label, icon }) => ({
          value: `theme ${value}`,
          label,
          hint: 'Theme',
          words: 'mode appearance',
          icon,
          run: () => chooseTheme(value),
        })),
        { value: 'keys', label: 'Keyboard', words: 'shortcuts help', icon: Keyboard, run: onKeys },
        {
          value: 'documentation',
          label: 'Documentation',
          words: 'help docs API',
          icon: BookOpen,
          run: () => open(`${config.data?.publicUrl ?? ''}/docs`, '_blank', 'noopener'),
        },
        { value: 'sign-out', label: 'Sign out', words: 'log out', icon: LogOut, run: () => void signOut() },
      ],
    },
    {
      label: 'Other projects',
      commands: groups.flatMap(({ organization, projects }) =>
        projects
          .filter(({ id }) => id !== projectId)
          .map(({ id, name }) => ({
            value: id,
            label: name,
            hint: organization.name,
            words: 'project switch',
            icon: ArrowRightLeft,
            run: () => void navigate({ to: '/p/$projectId', params: { projectId: id } }),
          })),
      ),
    },
  ];
}

/** Makes a command of a verb, if its action is possible now. */
export function commandOf<Of extends { readonly id: string }>(verb: Doing<Of>, of: Of, hint: string): Command[] {
  const { label, icon, reasonAgainst, act } = verb;
  return reasonAgainst(of) === undefined ? [{ value: `${label} ${of.id}`, label, hint, icon, run: () => act(of) }] : [];
}
