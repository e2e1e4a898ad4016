import { Menu, Search } from 'lucide-react';
import { IconButton } from '#ui/parts/button.tsx';
import { useProjects } from './projects.ts';

/** The head of narrow windows. */
export function TopBar({
  onMenu,
  onPalette,
}: {
  readonly onMenu: () => void;
  readonly onPalette: () => void;
}) {
  const { project } = useProjects();
  return (
    <div className="sticky top-0 z-30 flex h-12 items-center gap-1 border-b border-line bg-canvas px-2 lg:hidden">
      <IconButton icon={Menu} label="Menu" onClick={onMenu} />
      <span className="grow truncate text-base font-medium">{project?.name}</span>
      <IconButton icon={Search} label="Search" onClick={onPalette} />
    </div>
  );
}
