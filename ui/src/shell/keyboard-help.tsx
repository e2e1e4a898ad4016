import { Dialog } from '#ui/parts/dialog.tsx';
import { Kbd } from '#ui/parts/kbd.tsx';
import { PLACES } from './navigation.ts';

const MODIFIER = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

const GENERAL = [
  { keys: [MODIFIER, 'K'], label: 'Search and commands' },
  { keys: ['?'], label: 'These keys' },
  { keys: ['Esc'], label: 'Close' },
];

/** Lists the keys. */
export default function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Keyboard">
      <Group label="General" rows={GENERAL} />
      <Group
        label="Go to"
        rows={PLACES.flat().map(({ key, label }) => ({ keys: ['G', key.toUpperCase()], label }))}
      />
    </Dialog>
  );
}

function Group({
  label,
  rows,
}: {
  label: string;
  rows: readonly { keys: readonly string[]; label: string }[];
}) {
  return (
    <div>
      <h3 className="mb-1 text-sm font-medium text-faint">{label}</h3>
      <ul>
        {rows.map((row) => (
          <li key={row.label} className="flex h-8 items-center justify-between">
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
