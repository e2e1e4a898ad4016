import { Combobox } from '@base-ui/react/combobox';
import { Dialog } from '@base-ui/react/dialog';
import { useNavigate, useParams } from '@tanstack/react-router';
import { ArrowRightLeft, ListChecks, Plus, Search, type LucideIcon } from 'lucide-react';
import { useAll, useRead } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import { ACTIVATE, ARCHIVE, PAUSE, RUN_NOW } from '#ui/api/verbs/routines.ts';
import { CANCEL_RUN, RUN_AGAIN } from '#ui/api/verbs/runs.ts';
import { useVerb, type Doing } from '#ui/api/verbs/verb.ts';
import { isOver } from '#ui/format/run-words.ts';
import { Kbd } from '#ui/parts/kbd.tsx';
import { POPUP_ITEM } from '#ui/parts/popup.ts';
import { placesFor } from './navigation.ts';
import { useProjects } from './projects.ts';

/** Matches that are drawn: a project may have thousands of routines. */
const SHOWN = 100;

interface Command {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
  readonly icon: LucideIcon;
  readonly keys?: readonly string[];
  readonly run: () => void;
}

/** Finds by typing every page to go to and everything to create. */
export default function CommandPalette({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-veil" />
        <Dialog.Popup
          aria-label="Search and commands"
          className="fixed top-[10dvh] left-1/2 z-40 flex max-h-[70dvh] w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 flex-col overflow-hidden rounded-lg bg-surface shadow-overlay outline-none"
        >
          <Commands onClose={onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Commands({ onClose }: { onClose: () => void }) {
  const commands = useCommands();
  return (
    <Combobox.Root
      inline
      open
      items={commands}
      limit={SHOWN}
      autoHighlight
      itemToStringLabel={({ label, hint }: Command) => `${label} ${hint ?? ''}`}
      value={null}
      onValueChange={(command: Command | null) => {
        if (command === null) return;
        onClose();
        command.run();
      }}
    >
      <div className="flex items-center gap-2.5 border-b border-line px-3.5">
        <Search aria-hidden className="size-4 shrink-0 text-faint" />
        <Combobox.Input
          aria-label="Search and commands"
          placeholder="Go to a page, a routine, a project"
          className="h-11 w-full bg-transparent text-base outline-none"
        />
      </div>
      <Combobox.Empty className="px-4 py-6 text-center text-base text-muted empty:hidden">Nothing fits.</Combobox.Empty>
      <Combobox.List className="overflow-y-auto p-1.5 empty:hidden">
        {(command: Command) => (
          <Combobox.Item key={command.value} value={command} className={POPUP_ITEM}>
            <command.icon aria-hidden className="size-4 shrink-0 text-muted" strokeWidth={1.75} />
            <span className="truncate">{command.label}</span>
            {command.hint !== undefined && <span className="truncate text-sm text-faint">{command.hint}</span>}
            <span className="ml-auto flex gap-1">
              {command.keys?.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </span>
          </Combobox.Item>
        )}
      </Combobox.List>
    </Combobox.Root>
  );
}

/** Offers what can be done with the routine or the run that is open. */
function useVerbsHere(): readonly Command[] {
  const { routineId = '', runId = '' } = useParams({ strict: false });
  const routine = useRead('/v1/routines/{routineId}', { path: { routineId } }, { enabled: routineId !== '' });
  const run = useRead('/v1/runs/{runId}', { path: { runId } }, { enabled: runId !== '' });
  const [runNow, activate, pause, archive] = [useVerb(RUN_NOW), useVerb(ACTIVATE), useVerb(PAUSE), useVerb(ARCHIVE)];
  const [again, cancel] = [useVerb(RUN_AGAIN), useVerb(CANCEL_RUN)];
  const { data: ofRoutine } = routine;
  const { data: ofRun } = run;
  return [
    ...(ofRoutine === undefined
      ? []
      : [runNow, activate, pause, archive].flatMap((each) => commandOf(each, ofRoutine, ofRoutine.name))),
    ...(ofRun === undefined ? [] : commandOf(isOver(ofRun) ? again : cancel, ofRun, ofRun.routineName)),
  ];
}

/** Makes a command of a verb, where it can be done with this thing now. */
function commandOf<Of>(verb: Doing<Of>, of: Of, hint: string): readonly Command[] {
  const { label, icon, reasonAgainst, act } = verb;
  return reasonAgainst(of) === undefined ? [{ value: label, label, hint, icon, run: () => act(of) }] : [];
}

function useCommands(): readonly Command[] {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  const routines = useAll('/v1/routines', { query: { limit: 200 } });
  const { groups } = useProjects();
  const verbs = useVerbsHere();
  return [
    ...verbs,
    {
      value: 'new-routine',
      label: 'New routine',
      icon: Plus,
      run: () => void navigate({ to: '/p/$projectId/routines/new', params: { projectId } }),
    },
    ...placesFor(config.data)
      .flat()
      .map((place) => ({
        value: place.to,
        label: place.label,
        icon: place.icon,
        keys: ['G', place.key.toUpperCase()],
        run: () => void navigate({ to: place.to, params: { projectId } }),
      })),
    ...(routines.data ?? []).map(({ id, name }) => ({
      value: id,
      label: name,
      hint: 'Routine',
      icon: ListChecks,
      run: () =>
        void navigate({
          to: '/p/$projectId/routines/$routineId',
          params: { projectId, routineId: id },
        }),
    })),
    ...groups.flatMap(({ organization, projects }) =>
      projects
        .filter(({ id }) => id !== projectId)
        .map(({ id, name }) => ({
          value: id,
          label: name,
          hint: `Project of ${organization.name}`,
          icon: ArrowRightLeft,
          run: () => void navigate({ to: '/p/$projectId', params: { projectId: id } }),
        })),
    ),
  ];
}
