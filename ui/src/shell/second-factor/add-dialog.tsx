import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { encode } from 'uqr';
import { call } from '#ui/api/call.ts';
import { ApiError } from '#ui/api/error.ts';
import { errorInWords } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { CopyButton } from '#ui/parts/copy.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

/** Adds a second factor: a secret for the authenticator, a code that confirms it, then the recovery codes. */
export default function AddDialog({ onClose }: { readonly onClose: () => void }) {
  const [codes, setCodes] = useState<readonly string[]>();
  const begun = useQuery({
    queryKey: ['second-factor', 'begun'],
    queryFn: async () => (await call('post', '/auth/second-factor/begin', { body: {} })).data,
    // Ask for a new secret each time the dialog is opened, and keep it while the dialog is open.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const confirm = useSend('post', '/auth/second-factor/confirm', {
    refreshes: ['/auth/second-factor', '/v1/sessions'],
    showsError: true,
  });
  const form = useForm({ defaultValues: { code: '' } });
  if (codes !== undefined) return <RecoveryCodes codes={codes} onClose={onClose} />;
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      size="md"
      title="Add a second factor"
      description="Scan this code with an authenticator app, or type the key into the app. Then enter the code that the app shows. Your other sessions then end."
      action="Confirm code"
      disabledReason={begun.data === undefined ? 'The key is still being loaded.' : undefined}
      onSubmit={async ({ code }) => {
        try {
          const { recoveryCodes } = await confirm.sendAsync({
            body: { code: code.replaceAll(/\s/g, '') },
          });
          setCodes(recoveryCodes);
        } catch (error) {
          if (!(error instanceof ApiError) || error.code !== 'invalid_code') throw error;
          form.setError('code', { message: error.message }, { shouldFocus: true });
        }
      }}
    >
      <div className="flex flex-col gap-4 sm:flex-row">
        {begun.data === undefined ? (
          <Skeleton className="size-48" />
        ) : (
          <QrCode text={begun.data.uri} label="QR code for the authenticator app" />
        )}
        <div className="flex min-w-0 grow flex-col gap-4">
          <div className="flex flex-col gap-1.5">
            <span className="text-sm font-medium text-ink">Key</span>
            <div className="flex items-start gap-1 rounded-md border border-line bg-sunken py-1 pr-0.5 pl-2.5">
              <code className="grow font-mono text-sm text-ink">{inGroups(begun.data?.secret ?? '')}</code>
              <CopyButton text={begun.data?.secret ?? ''} label="Copy key" iconOnly />
            </div>
            <span className="text-sm text-muted">Time-based codes of six digits, valid for 30 seconds.</span>
          </div>
          <Field label="Code" error={form.formState.errors.code?.message}>
            <Input inputMode="numeric" autoComplete="one-time-code" className="font-mono" {...form.register('code')} />
          </Field>
        </div>
      </div>
      {begun.error !== null && (
        <FormError message={begun.error instanceof ApiError ? errorInWords(begun.error) : undefined} />
      )}
    </FormDialog>
  );
}

/** Writes a key in groups of four, which are easy to type on another device. */
function inGroups(secret: string): string {
  return secret.replaceAll(/(.{4})(?=.)/g, '$1 ');
}

/** Draws a QR code dark on light in every theme, because cameras need that. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { data, size } = encode(text, { border: 3 });
  const dark = data.flatMap((cells, y) => cells.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-48 shrink-0 rounded-md border border-line"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  );
}
