import { useForm } from 'react-hook-form';
import { ApiError } from '#ui/api/error.ts';
import { showFaults } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { Button } from '#ui/parts/button.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { AuthFrame } from '#ui/shell/auth-frame.tsx';
import {
  factorBody,
  FactorField,
  type FactorValues,
} from '#ui/shell/second-factor/factor-field.tsx';

export interface FactorStepProps {
  readonly onSignedIn: () => Promise<void>;
  readonly onStartOver: () => void;
}

/** Asks for the second factor once the password was right. */
export function FactorStep({ onSignedIn, onStartOver }: FactorStepProps) {
  const form = useForm<FactorValues>({ defaultValues: { code: '' } });
  const signIn = useSend('post', '/auth/sign-in/second-factor', { showsError: true });
  const submit = form.handleSubmit(async ({ code }) => {
    try {
      await signIn.sendAsync({ body: factorBody(code) });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'invalid_code') {
        form.setError('code', { message: error.message }, { shouldFocus: true });
      } else showFaults(form, error);
      return;
    }
    await onSignedIn();
  });
  return (
    <AuthFrame
      title="Enter your code"
      description="Your password was right. Your account has a second factor."
      footer={
        <button
          type="button"
          className="rounded-sm text-accent-ink underline-offset-2 hover:underline"
          onClick={onStartOver}
        >
          Start again
        </button>
      }
    >
      <form onSubmit={submit} className="flex flex-col gap-4" noValidate>
        <FactorField form={form} />
        <FormError message={form.formState.errors.root?.message} />
        <Button kind="primary" type="submit" busy={signIn.isSending}>
          Sign in
        </Button>
      </form>
    </AuthFrame>
  );
}
