import { Link } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useRead } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import { Kbd } from '#ui/parts/kbd.tsx';
import { AccountMenu } from './account-menu.tsx';
import { placesFor, type Place } from './navigation.ts';
import { ProjectSwitcher } from './project-switcher.tsx';

export interface SidebarProps {
  readonly onPalette: () => void;
  readonly onKeys: () => void;
  readonly onNavigate?: () => void;
}

export function Sidebar({ onPalette, onKeys, onNavigate }: SidebarProps) {
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
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
                <PlaceLink place={place} onNavigate={onNavigate} />
              </li>
            ))}
          </ul>
        ))}
      </nav>
      <AccountMenu onKeys={onKeys} />
    </div>
  );
}

function PlaceLink({ place, onNavigate }: { place: Place; onNavigate: (() => void) | undefined }) {
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
    </Link>
  );
}
