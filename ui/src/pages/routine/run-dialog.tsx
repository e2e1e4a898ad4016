import { useNavigate } from '@tanstack/react-router';
import { useForm, useWatch } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { RUN_NOW } from '#ui/api/verbs/routines.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { useProjectId } from '#ui/api/project.ts';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';

export interface RunDialogProps {
  readonly routineId: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Names of the variables that a run may override; null for all. */
  readonly overridable: readonly string[] | null;
  readonly onClose: () => void;
}

/** Runs a routine once with variables of its own, now or at a given time. */
export default function RunDialog({ routineId, variables, overridable, onClose }: RunDialogProps) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const form = useForm({ defaultValues: { variables: { ...variables }, runAt: '' } });
  const { errors } = form.formState;
  const run = useVerb(RUN_NOW, { showsError: true });
  const submit = form.handleSubmit(({ variables: given, runAt }) => {
    const own = Object.entries(given).filter(([name, value]) => value !== variables[name]);
    const body = {
      variables: Object.fromEntries(own),
      ...(runAt === '' ? {} : { runAt: new Date(runAt).toISOString() }),
    };
    return run.actAsync({ id: routineId, body }).then(
      ({ id: runId }) => navigate({ to: '/p/$projectId/runs/$runId', params: { projectId, runId } }),
      (error: unknown) => showFaults(form, error),
    );
  });
  const isFixed = (name: string) => overridable?.includes(name) === false;
  const later = useWatch({ control: form.control, name: 'runAt' }) !== '';
  return (
    <Dialog
      open
      onClose={onClose}
      title="Run once"
      description="These values are not saved in the routine."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={run.isBusy} onClick={() => void submit()}>
            {later ? 'Schedule this run' : 'Run now'}
          </Button>
        </>
      }
    >
      {Object.keys(variables).map((name) => (
        <Field
          key={name}
          label={<code className="text-xs font-normal">{name}</code>}
          error={errors.variables?.[name]?.message}
          description={isFixed(name) ? 'The value in the routine stays as it is.' : undefined}
        >
          <Input readOnly={isFixed(name)} {...form.register(`variables.${name}`)} />
        </Field>
      ))}
      <Field
        label="At"
        optional
        description={`Leave this empty to start at once. The time is in your zone, ${VIEWER_ZONE}.`}
        error={errors.runAt?.message}
      >
        <Input type="datetime-local" {...form.register('runAt')} />
      </Field>
      <FormError message={errors.root?.message} />
    </Dialog>
  );
}
