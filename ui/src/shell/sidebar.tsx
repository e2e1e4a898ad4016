import { Menu as Base } from '@base-ui/react/menu';
import { Link, useNavigate } from '@tanstack/react-router';
import { BookOpen, Check, ChevronsUpDown, Keyboard, LogOut, Plus, Search, UserRound } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { useSession, useSignOut } from '#ui/api/session.ts';
import { count } from '#ui/format/numbers.ts';
import { cx } from '#ui/parts/cx.ts';
import { Kbd } from '#ui/parts/kbd.tsx';
import { POPUP, POPUP_ITEM } from '#ui/parts/popup.ts';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { chooseTheme, readTheme, THEMES, type ThemeChoice } from '#ui/theme/theme.ts';
import { placesFor, type Place } from './navigation.ts';
import { useProjects } from './projects.ts';

export interface SidebarProps {
  readonly onPalette: () => void;
  readonly onKeys: () => void;
  readonly onNavigate?: () => void;
}

export function Sidebar({ onPalette, onKeys, onNavigate }: SidebarProps) {
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  const attention = useRead('/v1/attention', {}, { everyMs: 60_000 });
  const { held = [], questions = [] } = attention.data ?? {};
  const waiting = held.reduce((sum, { calls }) => sum + calls, questions.length);
  return (
    <div className="flex h-full flex-col gap-1 overflow-y-auto p-2.5">
      <ProjectSwitcher onNavigate={onNavigate} />
      <button
        type="button"
        onClick={onPalette}
        className="mt-1.5 mb-2 flex h-8 items-center gap-2 rounded-md border border-line bg-surface px-2 text-sm text-faint hover:border-edge"
      >
        <Search aria-hidden className="size-3.5" />
        <span className="grow text-left">Search</span>
        <Kbd>/</Kbd>
      </button>
      <nav aria-label="Project" className="flex grow flex-col gap-4">
        {placesFor(config.data).map((group) => (
          <ul key={group[0]?.to} className="flex flex-col gap-px">
            {group.map((place) => (
              <li key={place.to}>
                <PlaceLink
                  place={place}
                  waiting={place.to === '/p/$projectId/inbox' ? waiting : 0}
                  onNavigate={onNavigate}
                />
              </li>
            ))}
          </ul>
        ))}
      </nav>
      <AccountMenu onKeys={onKeys} onNavigate={onNavigate} />
    </div>
  );
}

interface PlaceLinkProps {
  readonly place: Place;
  /** Number of things on the page that wait for the person. */
  readonly waiting: number;
  readonly onNavigate: (() => void) | undefined;
}

function PlaceLink({ place, waiting, onNavigate }: PlaceLinkProps) {
  const projectId = useProjectId();
  const Icon = place.icon;
  return (
    <Link
      to={place.to}
      params={{ projectId }}
      activeOptions={{ exact: place.to === '/p/$projectId' }}
      {...(onNavigate === undefined ? {} : { onClick: onNavigate })}
      className="ring-inside flex h-8 items-center gap-2.5 rounded-md px-2 text-base text-muted hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:font-medium data-[status=active]:text-ink pointer-coarse:h-10"
    >
      <Icon aria-hidden className="size-4" strokeWidth={1.75} />
      {place.label}
      {waiting > 0 && (
        <span className="ml-auto rounded-full bg-warn-soft px-1.5 text-xs font-medium text-warn-ink tabular">
          {count(waiting)}
          <span className="sr-only"> waiting</span>
        </span>
      )}
    </Link>
  );
}

const NewProjectDialog = lazy(() => import('./new-project.tsx'));

/** Shows the project of this page, and leads to the others. */
function ProjectSwitcher({ onNavigate }: { readonly onNavigate: (() => void) | undefined }) {
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
                      {each.id === project?.id && <Check aria-label="Open now" className="size-4 text-accent-ink" />}
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
      <Suspense>{creating && <NewProjectDialog onClose={() => setCreating(false)} onCreated={go} />}</Suspense>
    </>
  );
}

/** Shows who is signed in, and offers the theme, the account, the keys and the sign-out. */
function AccountMenu({
  onKeys,
  onNavigate,
}: Pick<SidebarProps, 'onKeys'> & {
  readonly onNavigate: (() => void) | undefined;
}) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const { user } = useSession();
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  const signOut = useSignOut();
  const [theme, setTheme] = useState(readTheme);
  return (
    // Read the theme again, because the palette may have changed it meanwhile.
    <Base.Root onOpenChange={() => setTheme(readTheme())}>
      <Base.Trigger className="ring-inside mt-2 flex h-10 items-center gap-2.5 rounded-md px-2 text-left hover:bg-hover">
        <span
          aria-hidden
          className="flex size-6 shrink-0 items-center justify-center rounded-full border border-edge text-xs font-medium text-muted"
        >
          {initial(user.name)}
        </span>
        <span className="grow truncate text-sm text-muted">{user.name}</span>
        <span className="sr-only">Account and theme</span>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={4} side="top" align="start" className="z-50 outline-none">
          <Base.Popup className={cx(POPUP, 'w-60')}>
            <p className="truncate px-2 py-1.5 text-xs text-faint">{user.email}</p>
            <Base.RadioGroup
              aria-label="Theme"
              value={theme}
              onValueChange={(value: ThemeChoice) => {
                chooseTheme(value);
                setTheme(value);
              }}
            >
              {THEMES.map(({ value, label, icon: Icon }) => (
                <Base.RadioItem key={value} value={value} className={POPUP_ITEM}>
                  <Icon aria-hidden className="size-4 text-muted" strokeWidth={1.75} />
                  <span className="grow">{label}</span>
                  <Base.RadioItemIndicator>
                    <span className="block size-1.5 rounded-full bg-accent" />
                  </Base.RadioItemIndicator>
                </Base.RadioItem>
              ))}
            </Base.RadioGroup>
            <Base.Separator className="m-1 h-px bg-line" />
            <Base.Item
              className={POPUP_ITEM}
              onClick={() => {
                onNavigate?.();
                void navigate({ to: '/p/$projectId/settings', params: { projectId }, search: { tab: 'account' } });
              }}
            >
              <UserRound aria-hidden className="size-4 text-muted" strokeWidth={1.75} />
              Your account
            </Base.Item>
            <Base.LinkItem
              className={POPUP_ITEM}
              href={`${config.data?.publicUrl ?? ''}/docs`}
              target="_blank"
              rel="noreferrer noopener"
            >
              <BookOpen aria-hidden className="size-4 text-muted" strokeWidth={1.75} />
              Documentation
            </Base.LinkItem>
            <Base.Item className={POPUP_ITEM} onClick={onKeys}>
              <Keyboard aria-hidden className="size-4 text-muted" strokeWidth={1.75} />
              Keyboard
            </Base.Item>
            <Base.Item className={POPUP_ITEM} onClick={() => void signOut()}>
              <LogOut aria-hidden className="size-4 text-muted" strokeWidth={1.75} />
              Sign out
            </Base.Item>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** Returns the first letter of a name, for a small mark beside it. */
function initial(name: string | undefined): string {
  const [first] = new Intl.Segmenter('en').segment(name ?? '');
  return (first?.segment ?? '').toUpperCase();
}
