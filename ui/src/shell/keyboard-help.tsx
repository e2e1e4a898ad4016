import { useRead } from '#ui/api/read.ts';
import { INBOX_KEYS } from '#ui/api/verbs/actions.ts';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Kbd } from '#ui/parts/kbd.tsx';
import { placesFor } from './navigation.ts';

const MODIFIER = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

const GENERAL = [
  { keys: [MODIFIER, 'K'], label: 'Search and commands' },
  { keys: ['/'], label: 'Search and commands' },
  { keys: [MODIFIER, 'Enter'], label: 'Save and test, in the editor' },
  { keys: ['J'], label: 'Next result, on Home' },
  { keys: ['K'], label: 'Previous result, on Home' },
  { keys: ['E'], label: 'Mark the result as read' },
  { keys: ['A'], label: 'Run it again' },
  { keys: ['['], label: 'Previous result, while one is read' },
  { keys: [']'], label: 'Next result, while one is read' },
  { keys: ['?'], label: 'These keys' },
  { keys: ['Esc'], label: 'Close' },
];

export default function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  return (
    <Dialog open onClose={onClose} title="Keyboard">
      <div
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- on a phone the list scrolls, by the keyboard too
        tabIndex={0}
        role="region"
        aria-label="Keys"
        className="flex flex-col gap-4"
      >
        <Group label="General" rows={GENERAL} />
        <Group
          label="Inbox"
          rows={Object.values(INBOX_KEYS).map(({ key, label }) => ({ keys: [key.toUpperCase()], label }))}
        />
        <Group
          label="Go to"
          rows={placesFor(config.data)
            .flat()
            .map(({ key, label }) => ({ keys: ['G', key.toUpperCase()], label }))}
        />
      </div>
    </Dialog>
  );
}

function Group({ label, rows }: { label: string; rows: readonly { keys: readonly string[]; label: string }[] }) {
  return (
    <div>
      <h3 className="mb-1 text-sm font-medium text-faint">{label}</h3>
      <ul>
        {rows.map((row) => (
          <li key={row.keys.join()} className="flex min-h-8 items-center justify-between gap-4 py-1">
            {row.label}
            <span className="flex gap-1">
              {row.keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
