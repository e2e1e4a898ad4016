import { Menu as Base } from '@base-ui/react/menu';
import { useNavigate } from '@tanstack/react-router';
import { Check, ChevronsUpDown, Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { initial } from '#ui/format/initial.ts';
import { cx } from '#ui/parts/cx.ts';
import { POPUP, POPUP_ITEM } from '#ui/parts/popup.ts';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { useProjects } from './projects.ts';

const NewProjectDialog = lazy(() => import('./new-project.tsx'));

/** Shows the project of this page, and leads to the others. */
export function ProjectSwitcher({ onNavigate }: { readonly onNavigate: (() => void) | undefined }) {
  const { groups, project, organization } = useProjects();
  const [creating, setCreating] = useState(false);
  const navigate = useNavigate();
  const go = (projectId: string) => {
    onNavigate?.();
    void navigate({ to: '/p/$projectId', params: { projectId } });
  };
  return (
    <>
      <Base.Root>
        <Base.Trigger className="ring-inside flex h-11 items-center gap-2.5 rounded-md px-2 text-left hover:bg-hover">
          <span
            aria-hidden
            className={cx(
              'flex size-7 shrink-0 items-center justify-center rounded-md text-sm font-semibold text-on-accent',
              project === undefined ? 'animate-pulse bg-line' : 'bg-accent',
            )}
          >
            {initial(project?.name)}
          </span>
          <span className="flex min-w-0 grow flex-col">
            <span className="truncate text-base leading-4.5 font-medium text-ink">
              {project?.name ?? <Skeleton className="mt-0.5 h-3.5 w-24" />}
            </span>
            <span className="truncate text-xs text-faint">
              {organization?.name ?? <Skeleton className="mt-1 h-3 w-16" />}
            </span>
          </span>
          <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-faint" />
          <span className="sr-only">Switch project</span>
        </Base.Trigger>
        <Base.Portal>
          <Base.Positioner sideOffset={4} align="start" className="z-50 outline-none">
            <Base.Popup className={cx(POPUP, 'max-h-96 w-60')}>
              {groups.map((group) => (
                <Base.Group key={group.organization.id}>
                  <Base.GroupLabel className="px-2 pt-1.5 pb-1 text-xs text-faint">
                    {group.organization.name}
                  </Base.GroupLabel>
                  {group.projects.map((each) => (
                    <Base.Item key={each.id} className={POPUP_ITEM} onClick={() => go(each.id)}>
                      <span className="grow truncate">{each.name}</span>
                      {each.id === project?.id && (
                        <Check aria-label="Open now" className="size-4 text-accent-ink" />
                      )}
                    </Base.Item>
                  ))}
                </Base.Group>
              ))}
              <Base.Separator className="m-1 h-px bg-line" />
              <Base.Item className={POPUP_ITEM} onClick={() => setCreating(true)}>
                <Plus aria-hidden className="size-4 text-muted" />
                New project
              </Base.Item>
            </Base.Popup>
          </Base.Positioner>
        </Base.Portal>
      </Base.Root>
      <Suspense>
        {creating && <NewProjectDialog onClose={() => setCreating(false)} onCreated={go} />}
      </Suspense>
    </>
  );
}
