import { useState } from 'react';
import type { UseFormReturn } from 'react-hook-form';
import { Field } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';

/** Values of a form with a second factor; `code` takes a code of either kind. */
export interface FactorValues {
  readonly code: string;
}

/** Makes the body of a request from the input. */
export function factorBody(code: string): { code: string } | { recoveryCode: string } {
  const digits = code.replaceAll(/\s/g, '');
  return /^\d{6}$/.test(digits) ? { code: digits } : { recoveryCode: code.trim() };
}

/** Asks for a code of the authenticator, or for a recovery code if the person has lost it. */
export function FactorField({ form }: { readonly form: UseFormReturn<FactorValues> }) {
  const [hasLost, setLost] = useState(false);
  return (
    <Field
      label={hasLost ? 'Recovery code' : 'Code'}
      description={
        hasLost
          ? 'One of the ten codes that you stored. Each code works once.'
          : 'The six digits that your authenticator app shows.'
      }
      error={form.formState.errors.code?.message}
      aside={
        <button
          type="button"
          className="rounded-sm text-accent-ink underline-offset-2 hover:underline"
          onClick={() => setLost(!hasLost)}
        >
          {hasLost ? 'Use the authenticator' : 'Use a recovery code'}
        </button>
      }
    >
      <Input
        key={String(hasLost)}
        autoComplete={hasLost ? 'off' : 'one-time-code'}
        inputMode={hasLost ? 'text' : 'numeric'}
        spellCheck={false}
        className="font-mono"
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the form is for this field
        autoFocus
        {...form.register('code')}
      />
    </Field>
  );
}
