import { Combobox } from '@base-ui/react/combobox';
import { Dialog } from '@base-ui/react/dialog';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { useSettled } from '#ui/api/read.ts';
import { Kbd } from '#ui/parts/kbd.tsx';
import { POPUP_ITEM } from '#ui/parts/popup.ts';
import { useCommands, type Command, type Group } from './commands.ts';
import { useFound } from './found.ts';
import { fits } from './match.ts';

export interface CommandPaletteProps {
  readonly onClose: () => void;
  readonly onKeys: () => void;
}

/** Finds pages, routines, runs, skills and settings by typing, and their actions. */
export default function CommandPalette({ onClose, onKeys }: CommandPaletteProps) {
  return (
    <Dialog.Root open onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-veil" />
        <Dialog.Popup
          aria-label="Search and commands"
          className="fixed top-[10dvh] left-1/2 z-40 flex max-h-[70dvh] w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 flex-col overflow-hidden rounded-lg bg-surface shadow-overlay outline-none"
        >
          <Commands onClose={onClose} onKeys={onKeys} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Commands({ onClose, onKeys }: CommandPaletteProps) {
  const [typed, setTyped] = useState('');
  const text = typed.trim();
  const settled = useSettled(text);
  const found = useFound(settled);
  const groups = [
    ...useCommands(onKeys).map(({ label, commands }) => ({
      label,
      commands: commands.filter((each) => fits(each, text)),
    })),
    ...found.groups,
  ].flatMap(({ label, commands }) => (commands.length === 0 ? [] : [{ label, items: commands }]));
  const isLooking = found.isLooking || settled !== text;
  return (
    <Combobox.Root
      inline
      open
      items={groups}
      filter={null}
      autoHighlight
      itemToStringLabel={({ label }: Command) => label}
      inputValue={typed}
      onInputValueChange={setTyped}
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
          placeholder="Find a page, routine, run, skill or action"
          className="h-11 w-full bg-transparent text-base outline-none"
        />
      </div>
      <Combobox.Status className="px-4 py-6 text-center text-base text-muted empty:hidden">
        {groups.length > 0 ? null : isLooking ? 'Searching' : (found.fault ?? 'Nothing fits.')}
      </Combobox.Status>
      <Combobox.List className="overflow-y-auto p-1.5 empty:hidden">
        {({ label, items }: { label: Group['label']; items: readonly Command[] }) => (
          <Combobox.Group key={label} items={[...items]} className="not-first:mt-2">
            <Combobox.GroupLabel className="px-2 py-1 text-xs font-medium text-faint">{label}</Combobox.GroupLabel>
            <Combobox.Collection>
              {(command: Command) => <Item key={command.value} command={command} />}
            </Combobox.Collection>
          </Combobox.Group>
        )}
      </Combobox.List>
    </Combobox.Root>
  );
}

function Item({ command }: { readonly command: Command }) {
  return (
    <Combobox.Item value={command} className={POPUP_ITEM}>
      <command.icon aria-hidden className="size-4 shrink-0 text-muted" strokeWidth={1.75} />
      <span className="max-w-[60%] shrink-0 truncate">{command.label}</span>
      {command.hint !== undefined && <span className="truncate text-sm text-faint">{command.hint}</span>}
      <span className="ml-auto flex gap-1">
        {command.keys?.map((key) => (
          <Kbd key={key}>{key}</Kbd>
        ))}
      </span>
    </Combobox.Item>
  );
}
