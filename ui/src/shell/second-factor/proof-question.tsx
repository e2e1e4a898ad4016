import { useForm } from 'react-hook-form';
import { call } from '#ui/api/call.ts';
import { ApiError } from '#ui/api/error.ts';
import { showFaults } from '#ui/api/form.ts';
import { hasPasskeys, askForPasskey } from '#ui/api/passkeys.ts';
import { useRead } from '#ui/api/read.ts';
import { useSession } from '#ui/api/session.ts';
import { Button } from '#ui/parts/button.tsx';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { factorBody, FactorField, type FactorValues } from './factor-field.tsx';

/** Asks for the second factor, or for the password of a person who has none. */
export default function ProofQuestion({ onEnd }: { readonly onEnd: (proven: boolean) => void }) {
  const { user } = useSession();
  const factor = useRead('/auth/second-factor', {});
  const hasFactor = factor.data !== undefined && factor.data.confirmedAt !== null;
  const form = useForm<FactorValues>({ defaultValues: { code: '' } });
  const { errors } = form.formState;
  const proveByPasskey = async () => {
    try {
      const passkey = await askForPasskey();
      if (passkey === undefined) return;
      await call('post', '/auth/prove', { body: { passkey } });
    } catch (error) {
      showFaults(form, error);
      return;
    }
    onEnd(true);
  };
  return (
    <FormDialog
      form={form}
      onClose={() => onEnd(false)}
      title="Confirm that it is you"
      description="You signed in some time ago, and this action changes who has access."
      action="Confirm"
      onSubmit={async ({ code }) => {
        try {
          await call('post', '/auth/prove', {
            body: hasFactor ? factorBody(code) : { password: code },
          });
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          const words = WRONG[error.code];
          if (words === undefined) throw error;
          form.setError('code', { message: words }, { shouldFocus: true });
          return;
        }
        onEnd(true);
      }}
    >
      <input type="text" autoComplete="username" value={user.email} readOnly hidden />
      {factor.isPending && <SkeletonRows rows={1} />}
      {hasFactor && <FactorField form={form} />}
      {hasFactor && factor.data.passkeys.length > 0 && hasPasskeys() && (
        <div>
          <Button onClick={() => void proveByPasskey()}>Use a passkey</Button>
        </div>
      )}
      {!factor.isPending && !hasFactor && (
        <Field label="Your password" error={errors.code?.message}>
          <Input
            type="password"
            autoComplete="current-password"
            // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog is for this field
            autoFocus
            {...form.register('code')}
          />
        </Field>
      )}
    </FormDialog>
  );
}

const WRONG: Readonly<Record<string, string>> = {
  invalid_password: 'This is not your password.',
  invalid_code: 'This code is wrong, or was used before.',
};
