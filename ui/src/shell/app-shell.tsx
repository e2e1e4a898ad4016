import { Outlet, useNavigate, useParams } from '@tanstack/react-router';
import { Menu, Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { ProjectProvider } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { ButtonLink, IconButton } from '#ui/parts/button.tsx';
import { EmptyState, ErrorState } from '#ui/parts/feedback.tsx';
import { CHORD_MS, isBusy } from '#ui/parts/keys.ts';
import { useDocumentKeys } from '#ui/parts/page-keys.ts';
import { useUnreadInTitle } from '#ui/parts/page-title.ts';
import { rememberProject } from './last-project.ts';
import { placesFor, type Place } from './navigation.ts';
import { useProjects } from './projects.ts';
import { Sidebar } from './sidebar.tsx';

// These parts are loaded when they are first shown.
const CommandPalette = lazy(() => import('./palette/command-palette.tsx'));
const DemoNote = lazy(() => import('./demo-note.tsx'));
const Drawer = lazy(() => import('./drawer.tsx'));
const FactorDemanded = lazy(() => import('./second-factor/demanded.tsx'));
const KeyboardHelp = lazy(() => import('./keyboard-help.tsx'));

/** Draws the frame of every page of a project: location, navigation and their keys. */
export function AppShell() {
  const { projectId } = useParams({ from: '/account/p/$projectId' });
  return (
    <ProjectProvider value={projectId}>
      <Frame key={projectId} projectId={projectId} />
    </ProjectProvider>
  );
}

function Frame({ projectId }: { projectId: string }) {
  const [open, setOpen] = useState<'palette' | 'keys' | 'drawer' | null>(null);
  const close = () => setOpen(null);
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  useKeys({
    projectId,
    places: placesFor(config.data).flat(),
    onPalette: () => setOpen('palette'),
    onHelp: () => setOpen('keys'),
  });
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[14.5rem_1fr] print:block">
      <a
        href="#page"
        className="sr-only z-50 rounded-md bg-surface px-3 py-2 shadow-overlay focus:not-sr-only focus:fixed focus:top-3 focus:left-3"
      >
        Skip to the page
      </a>
      <aside className="sticky top-0 h-dvh border-r border-line bg-sunken max-lg:hidden print:hidden">
        <Sidebar onPalette={() => setOpen('palette')} onKeys={() => setOpen('keys')} />
      </aside>
      <TopBar onMenu={() => setOpen('drawer')} onPalette={() => setOpen('palette')} />
      <main
        id="page"
        tabIndex={-1}
        className="mx-auto w-full max-w-[72rem] min-w-0 px-4 py-6 outline-none sm:px-8 lg:py-8"
      >
        <Project projectId={projectId} />
      </main>
      <Suspense>
        {open === 'drawer' && (
          <Drawer onClose={close}>
            <Sidebar onPalette={() => setOpen('palette')} onKeys={() => setOpen('keys')} onNavigate={close} />
          </Drawer>
        )}
        {open === 'palette' && <CommandPalette onClose={close} onKeys={() => setOpen('keys')} />}
        {open === 'keys' && <KeyboardHelp onClose={close} />}
      </Suspense>
    </div>
  );
}

/** Shows the page, unless the person has no access to this project. */
function Project({ projectId }: { projectId: string }) {
  const project = useRead('/v1/projects/{projectId}', { path: { projectId } });
  const isThere = project.data !== undefined;
  const unread = useRead('/v1/results/unread', {}, { everyMs: 60_000, enabled: isThere });
  useUnreadInTitle(unread.data?.worthReadingRoutines ?? 0);
  useEffect(() => {
    if (isThere) rememberProject(projectId);
  }, [isThere, projectId]);
  if (project.error !== null && project.data === undefined) {
    return (
      <>
        <h1 className="sr-only">Project</h1>
        {project.error.code === 'second_factor_required' ? (
          <Suspense>
            <FactorDemanded />
          </Suspense>
        ) : project.error.status === 404 ? (
          <EmptyState
            title="This project is not one of yours"
            action={<ButtonLink to="/">Go to your projects</ButtonLink>}
          >
            The project may have been deleted, or you are no longer a member of its organization.
          </EmptyState>
        ) : (
          <ErrorState error={project.error} onRetry={project.refetch} />
        )}
      </>
    );
  }
  return (
    <>
      <Outlet />
      {/* The note is at the end, so that nothing moves when it is loaded. */}
      {project.data?.isDemo === true && (
        <Suspense>
          <DemoNote project={project.data} />
        </Suspense>
      )}
    </>
  );
}

/** Draws the head of narrow windows. */
function TopBar({ onMenu, onPalette }: { readonly onMenu: () => void; readonly onPalette: () => void }) {
  const { project } = useProjects();
  return (
    <div className="sticky top-0 z-30 flex h-12 items-center gap-1 border-b border-line bg-canvas px-2 lg:hidden print:hidden">
      <IconButton icon={Menu} label="Menu" onClick={onMenu} />
      <span className="grow truncate text-base font-medium">{project?.name}</span>
      <IconButton icon={Search} label="Search" onClick={onPalette} />
    </div>
  );
}

interface Keys {
  readonly projectId: string;
  /** The pages that this service has. */
  readonly places: readonly Place[];
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

/** Listens for the keys of the whole dashboard, while no field has the focus and no dialog is open. */
function useKeys({ projectId, places, onPalette, onHelp }: Keys): void {
  const navigate = useNavigate();
  // Kept in a ref, because a rendering may happen between the two keys.
  const chordUntil = useRef(0);
  useDocumentKeys((event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      onPalette();
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || isBusy(event.target)) return;
    if (event.key === '?') onHelp();
    else if (event.key === '/') {
      event.preventDefault();
      onPalette();
    } else if (event.key === 'g') chordUntil.current = event.timeStamp + CHORD_MS;
    else if (event.timeStamp < chordUntil.current) {
      chordUntil.current = 0;
      const place = places.find(({ key }) => key === event.key);
      if (place !== undefined) void navigate({ to: place.to, params: { projectId } });
    }
  });
}
