import { useState } from 'react';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { cx } from '#ui/parts/cx.ts';
import { labelOf, valueInWords } from '#ui/parts/routine-fields.ts';
import { changedFields, isSame, type RoutineForm } from './form.ts';

export interface Conflict {
  /** The version from which both edits began. */
  readonly base: RoutineForm;
  readonly mine: RoutineForm;
  readonly theirs: RoutineForm;
  /** The `ETag` of the other user's version, for `If-Match`. */
  readonly etag: string | undefined;
  /** True if a run is to try the choices while the schedule continues. */
  readonly isTried: boolean;
}

export interface ConflictDialogProps {
  readonly conflict: Conflict;
  readonly onClose: () => void;
  /** Applies the choices on top of the other user's version. */
  readonly onResolve: (merged: RoutineForm) => void;
  readonly isSaving: boolean;
}

/** Shows fields that both users changed side by side. Other changes are kept without a question. */
export default function ConflictDialog({ conflict, onClose, onResolve, isSaving }: ConflictDialogProps) {
  const { base, mine, theirs, isTried } = conflict;
  const ours = changedFields(base, mine);
  const others = changedFields(base, theirs);
  const both = ours.filter((field) => others.includes(field) && !isSame(mine[field], theirs[field]));
  const [kept, setKept] = useState<ReadonlySet<keyof RoutineForm>>(new Set(both));
  const merged = () => {
    const mineKept = ours.filter((field) => !both.includes(field) || kept.has(field));
    return { ...theirs, ...Object.fromEntries(mineKept.map((field) => [field, mine[field]])) };
  };
  const onlyTheirs = others.filter((field) => !both.includes(field));
  return (
    <Dialog
      open
      onClose={onClose}
      size="lg"
      title="Another user has saved this routine"
      description={
        both.length === 0
          ? 'The other user’s changes and yours touch different things, so both can stay.'
          : 'You both changed the same things. Choose which changes to keep; nothing is saved yet.'
      }
      actions={
        <>
          <Button onClick={onClose}>Back to editing</Button>
          <Button kind="primary" busy={isSaving} onClick={() => onResolve(merged())}>
            {`${isTried ? 'Test' : 'Save'} ${both.length === 0 ? 'both' : 'what is chosen'}`}
          </Button>
        </>
      }
    >
      {both.map((field) => (
        <fieldset key={field}>
          <legend className="mb-1.5 text-sm font-medium text-ink">{labelOf(field)}</legend>
          <div className="grid gap-2 sm:grid-cols-2">
            {(['mine', 'theirs'] as const).map((side) => (
              <Side
                key={side}
                name={`conflict-${field}`}
                label={side === 'mine' ? 'Yours' : 'Theirs'}
                text={valueInWords(field, conflict[side][field])}
                isChosen={kept.has(field) === (side === 'mine')}
                onChoose={() => {
                  const next = new Set(kept);
                  if (side === 'mine') next.add(field);
                  else next.delete(field);
                  setKept(next);
                }}
              />
            ))}
          </div>
        </fieldset>
      ))}
      {onlyTheirs.length > 0 && (
        <div className="text-sm">
          <p className="font-medium text-ink">These changes of the other user stay</p>
          <ul className="mt-1 flex flex-col gap-1 text-muted">
            {onlyTheirs.map((field) => (
              <li key={field} className="truncate">
                {labelOf(field)}: {valueInWords(field, theirs[field])}
              </li>
            ))}
          </ul>
        </div>
      )}
    </Dialog>
  );
}

function Side({
  name,
  label,
  text,
  isChosen,
  onChoose,
}: {
  name: string;
  label: string;
  text: string;
  isChosen: boolean;
  onChoose: () => void;
}) {
  return (
    <label
      className={cx(
        'flex cursor-pointer flex-col gap-1.5 rounded-lg border p-3',
        isChosen ? 'border-accent bg-accent-soft' : 'border-line hover:border-edge',
      )}
    >
      <span className="flex items-center gap-2 text-sm font-medium text-ink">
        <input type="radio" name={name} checked={isChosen} onChange={onChoose} />
        {label}
      </span>
      <span className="max-h-48 overflow-y-auto text-sm wrap-anywhere whitespace-pre-wrap text-muted">{text}</span>
    </label>
  );
}
