import { useId } from 'react';
import type { FieldPath, FieldValues, UseFormReturn } from 'react-hook-form';
import { submitTo } from '#ui/api/form.ts';
import { Button, type ButtonKind } from './button.tsx';
import { Dialog, type DialogProps } from './dialog.tsx';
import { FormError } from './field.tsx';

export interface FormDialogProps<Values extends FieldValues> extends Omit<DialogProps, 'open' | 'actions'> {
  readonly open?: boolean;
  readonly form: UseFormReturn<Values>;
  /** Sends the values. An error of the API is shown at the fields that it names, or below the fields. */
  readonly onSubmit: (values: Values) => Promise<void>;
  /** The action as a verb: "Create key". */
  readonly action: string;
  readonly kind?: ButtonKind;
  readonly disabledReason?: string | undefined;
  /** Maps the server's names of fields to those of the form, if they differ. */
  readonly names?: Readonly<Record<string, FieldPath<Values>>>;
}

/** Shows the fields of a form, given as children, with buttons to cancel and to send it. */
export function FormDialog<Values extends FieldValues>({
  open = true,
  form,
  onSubmit,
  action,
  kind = 'primary',
  disabledReason,
  names,
  children,
  ...dialog
}: FormDialogProps<Values>) {
  const id = useId();
  const { errors, isSubmitting } = form.formState;
  const submit = submitTo(form, onSubmit, names);
  return (
    <Dialog
      {...dialog}
      open={open}
      actions={
        <>
          <Button onClick={dialog.onClose}>Cancel</Button>
          <Button kind={kind} type="submit" form={id} busy={isSubmitting} disabledReason={disabledReason}>
            {action}
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={submit} className="flex flex-col gap-4">
        {children}
        <FormError message={errors.root?.message} />
      </form>
    </Dialog>
  );
}
