import { useState } from 'react';
import { useForm, useWatch } from 'react-hook-form';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { Field, FormError } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Select } from '#ui/parts/select.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { SCOPE_LABELS, type Scope } from '#ui/shell/access/levels.ts';
import { useRole } from '#ui/shell/projects.ts';

const DAY_MS = 86_400_000;

const EXPIRIES = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'never', label: 'Never' },
] as const;

type Expiry = (typeof EXPIRIES)[number]['value'];

const NEW: { name: string; scopes: string; expiresAt: Expiry } = {
  name: '',
  scopes: '',
  expiresAt: '90',
};

export interface NewKeyProps {
  /** The key whose place it takes, and whose name, scopes and duration it gets at first. */
  readonly replaces: Shape<'ApiKey'> | undefined;
  readonly onClose: () => void;
  /** Gets the plaintext, which cannot be read again. */
  readonly onCreated: (key: string) => void;
}

/** Asks for the name, scopes and end of a key. */
export default function NewKeyDialog({ replaces, onClose, onCreated }: NewKeyProps) {
  const role = useRole();
  const mayWrite = role === 'owner' || role === 'admin';
  const [scopes, setScopes] = useState<readonly Scope[]>();
  const usual = replaces?.scopes ?? DEFAULT_SCOPES;
  const chosen = scopes ?? (mayWrite ? usual : usual.filter(isRead));
  const form = useForm({ defaultValues: replaces === undefined ? NEW : copyOf(replaces) });
  const { errors } = form.formState;
  const create = useSend('post', '/v1/api-keys', { refreshes: ['/v1/api-keys'], showsError: true });

  const submit = async ({ name, expiresAt }: typeof NEW) => {
    const body = { name, scopes: [...chosen], expiresAt: instantOf(expiresAt) };
    const { key } = await create.sendAsync({ body });
    onClose();
    if (key !== null) onCreated(key);
  };
  const choose = (scope: Scope, on: boolean) =>
    setScopes(on ? [...chosen, scope] : chosen.filter((each) => each !== scope));

  return (
    <FormDialog
      onClose={onClose}
      size="md"
      title={replaces === undefined ? 'New API key' : `Replace ${replaces.name}`}
      description={
        replaces === undefined
          ? 'It acts in this project only. You see it once, right after it is made.'
          : `First make a new key. The old one, ${replaces.prefix}, goes on working beside it until you revoke it, so that no program stands still.`
      }
      form={form}
      onSubmit={submit}
      action="Create key"
    >
      <Field
        label="Name"
        description="Where it will be used, so that you know which to revoke."
        error={errors.name?.message}
      >
        <Input {...form.register('name')} placeholder="Nightly import" autoComplete="off" />
      </Field>
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1.5 text-sm font-medium text-ink">It may</legend>
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
        {!mayWrite && role !== undefined && (
          <p className="text-sm text-muted">Keys that change things are made by owners and admins.</p>
        )}
        <FormError message={errors.scopes?.message} />
      </fieldset>
      <Field label="Stops working" error={errors.expiresAt?.message}>
        <Select
          options={EXPIRIES}
          value={useWatch({ control: form.control, name: 'expiresAt' })}
          onChange={(value) => form.setValue('expiresAt', value)}
        />
      </Field>
    </FormDialog>
  );
}

function copyOf({ name, createdAt, expiresAt }: Shape<'ApiKey'>): typeof NEW {
  if (expiresAt === null) return { ...NEW, name, expiresAt: 'never' };
  const days = Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / DAY_MS);
  const same = EXPIRIES.find(({ value }) => value === String(days));
  return { ...NEW, name, expiresAt: same?.value ?? NEW.expiresAt };
}

function instantOf(days: Expiry): string | null {
  return days === 'never' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString();
}

interface ScopeChoice {
  readonly scope: Scope;
  /** The rights that its label does not name. */
  readonly note?: string;
  /** Owners and admins only, on the plans that let the API write. */
  readonly writes: boolean;
}

/** Lists what a key can be allowed to do, in the order in which people ask for it. */
const SCOPE_CHOICES: readonly ScopeChoice[] = [
  { scope: 'models:read', writes: false },
  { scope: 'routines:read', writes: false },
  { scope: 'runs:read', writes: false },
  { scope: 'connections:read', writes: false },
  {
    scope: 'runs:write',
    note: 'Values that it gives for a run are material, not instructions, unless it may change routines too.',
    writes: true,
  },
  { scope: 'routines:write', writes: true },
  { scope: 'connections:write', writes: true },
];

/** Scopes that are chosen for a new key at first, the same as in the API. */
const DEFAULT_SCOPES: readonly Scope[] = ['models:read', 'routines:read', 'runs:read', 'runs:write'];

/** Returns true for what a key of a member may have, too. */
function isRead(scope: Scope): boolean {
  return scope.endsWith(':read');
}
