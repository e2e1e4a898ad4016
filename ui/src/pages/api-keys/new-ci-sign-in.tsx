import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Select } from '#ui/parts/select.tsx';
import type { Scope } from '#ui/shell/access/levels.ts';
import { useMayWrite } from '#ui/shell/projects.ts';
import { ScopePicker } from './scope-picker.tsx';

const SYSTEMS = {
  github: { label: 'GitHub Actions', issuer: 'https://token.actions.githubusercontent.com' },
  gitlab: { label: 'GitLab', issuer: 'https://gitlab.com' },
  other: { label: 'Another issuer', issuer: '' },
} as const;
type System = keyof typeof SYSTEMS;

const NEW: Record<'name' | 'issuer' | 'subjectPattern' | 'audience' | 'scopes', string> = {
  name: '',
  issuer: SYSTEMS.github.issuer,
  subjectPattern: '',
  audience: '',
  scopes: '',
};

const OPTIONS = (['github', 'gitlab', 'other'] as const).map((value) => ({ value, label: SYSTEMS[value].label }));

const EXAMPLES: Readonly<Record<System, string>> = {
  github: 'repo:acme/site:ref:refs/heads/main',
  gitlab: 'project_path:acme/site:ref_type:branch:ref:main',
  other: 'service:acme/deploy',
};

/** Asks which jobs may sign in, and which scopes their keys get. */
export default function NewCiSignIn({ onClose }: { readonly onClose: () => void }) {
  const mayWrite = useMayWrite() === true;
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  const [system, setSystem] = useState<System>('github');
  const [scopes, setScopes] = useState<readonly Scope[]>(['models:read', 'routines:read']);
  const form = useForm({ defaultValues: NEW });
  const { errors } = form.formState;
  const create = useSend('post', '/v1/ci-trusts', { refreshes: ['/v1/ci-trusts'], showsError: true });
  const address = config.data?.publicUrl ?? globalThis.location.origin;
  return (
    <FormDialog
      onClose={onClose}
      size="md"
      title="New CI sign-in"
      description="Jobs whose ID token fits get a key that works for an hour, made in your name."
      form={form}
      onSubmit={async ({ audience, scopes: _scopes, ...fields }) => {
        await create.sendAsync({ body: { ...fields, audience: audience || address, scopes: [...scopes] } });
        onClose();
      }}
      action="Create CI sign-in"
    >
      <Field label="Name" error={errors.name?.message}>
        <Input {...form.register('name')} placeholder="Deploy from main" autoComplete="off" />
      </Field>
      <Field label="CI system">
        <Select
          options={OPTIONS}
          value={system}
          onChange={(value) => {
            setSystem(value);
            form.setValue('issuer', SYSTEMS[value].issuer);
          }}
        />
      </Field>
      <Field label="Issuer" description="The iss of the ID tokens." error={errors.issuer?.message}>
        <Input {...form.register('issuer')} placeholder="https://ci.example.com" autoComplete="off" />
      </Field>
      <Field
        label="Subject"
        description="The sub of the ID tokens, which names repository and branch. Between two colons, one * matches any text."
        error={errors.subjectPattern?.message}
      >
        <Input {...form.register('subjectPattern')} placeholder={EXAMPLES[system]} autoComplete="off" />
      </Field>
      <Field label="Audience" description="The aud that the job asks for." error={errors.audience?.message}>
        <Input {...form.register('audience')} placeholder={address} autoComplete="off" />
      </Field>
      <ScopePicker chosen={scopes} mayWrite={mayWrite} error={errors.scopes?.message} onChange={setScopes} />
    </FormDialog>
  );
}
