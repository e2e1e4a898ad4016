import { FormError } from '#ui/parts/field.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { SCOPE_LABELS, type Scope } from '#ui/shell/access/levels.ts';

export interface ScopePickerProps {
  readonly chosen: readonly Scope[];
  /** True for owners and admins, who alone may give scopes that write. */
  readonly mayWrite: boolean;
  readonly error: string | undefined;
  readonly onChange: (scopes: readonly Scope[]) => void;
}

export function ScopePicker({ chosen, mayWrite, error, onChange }: ScopePickerProps) {
  const choose = (scope: Scope, on: boolean) =>
    onChange(on ? [...chosen, scope] : chosen.filter((each) => each !== scope));
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1.5 text-sm font-medium text-ink">The key may</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {SCOPE_CHOICES.map(({ scope, note, writes }) => (
          <Checkbox
            key={scope}
            label={SCOPE_LABELS[scope]}
            description={
              <>
                <span className="font-mono text-xs">{scope}</span>
                {note !== undefined && <span className="block">{note}</span>}
              </>
            }
            checked={chosen.includes(scope)}
            disabled={writes && !mayWrite}
            onChange={(on) => choose(scope, on)}
          />
        ))}
      </div>
      {!mayWrite && <p className="text-sm text-muted">Only owners and admins can make keys that change things.</p>}
      <FormError message={error} />
    </fieldset>
  );
}

interface ScopeChoice {
  readonly scope: Scope;
  /** Rights that the label does not name. */
  readonly note?: string;
  /** True for a scope that only owners and admins give, on the plans that let the API write. */
  readonly writes: boolean;
}

/** Lists the scopes of a key, the most common first. */
const SCOPE_CHOICES: readonly ScopeChoice[] = [
  { scope: 'models:read', writes: false },
  { scope: 'routines:read', writes: false },
  { scope: 'runs:read', writes: false },
  { scope: 'connections:read', writes: false },
  {
    scope: 'runs:write',
    note: 'The model treats values that the key gives for a run as data, not as instructions, unless the key may also change routines.',
    writes: true,
  },
  { scope: 'routines:write', writes: true },
  { scope: 'connections:write', writes: true },
];

/** Returns true for scopes that a member may give to a key. */
export function isRead(scope: Scope): boolean {
  return scope.endsWith(':read');
}
