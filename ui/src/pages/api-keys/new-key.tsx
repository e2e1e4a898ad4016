import { useState } from 'react';
import { useForm, useWatch } from 'react-hook-form';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Select } from '#ui/parts/select.tsx';
import type { Scope } from '#ui/shell/access/levels.ts';
import { useMayWrite } from '#ui/shell/projects.ts';
import { isRead, ScopePicker } from './scope-picker.tsx';

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
  /** The key that the new one replaces; its name, scopes and duration are the defaults. */
  readonly replaces: Shape<'ApiKey'> | undefined;
  readonly onClose: () => void;
  /** Gets the plaintext of the key, which no response shows again. */
  readonly onCreated: (key: string) => void;
}

/** Asks for the name, scopes and end of a key. */
export default function NewKeyDialog({ replaces, onClose, onCreated }: NewKeyProps) {
  const mayWrite = useMayWrite() === true;
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

  return (
    <FormDialog
      onClose={onClose}
      size="md"
      title={replaces === undefined ? 'New API key' : `Replace ${replaces.name}`}
      description={
        replaces === undefined
          ? 'The key acts in this project only. You see it once, right after it is made.'
          : `First make a new key. The old one, ${replaces.prefix}, works until you revoke it, so that no program stops.`
      }
      form={form}
      onSubmit={submit}
      action="Create key"
    >
      <Field
        label="Name"
        description="Where the key will be used, so that you know later which key to revoke."
        error={errors.name?.message}
      >
        <Input {...form.register('name')} placeholder="Nightly import" autoComplete="off" />
      </Field>
      <ScopePicker chosen={chosen} mayWrite={mayWrite} error={errors.scopes?.message} onChange={setScopes} />
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

/** Scopes of a new key until the person chooses others, the same as in the API. */
const DEFAULT_SCOPES: readonly Scope[] = ['models:read', 'routines:read', 'runs:read', 'runs:write'];
