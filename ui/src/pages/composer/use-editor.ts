import { useRef, useState } from 'react';
import { useForm, type UseFormReturn } from 'react-hook-form';
import { ApiError } from '#ui/api/error.ts';
import { showFaults } from '#ui/api/form.ts';
import { changedFields, FAULT_NAMES, type RoutineForm } from './form.ts';
import { withVariables } from './instructions.tsx';

export interface Editor {
  readonly form: UseFormReturn<RoutineForm>;
  /** The form as it was last saved. */
  readonly base: RoutineForm;
  readonly hasChanges: boolean;
  /** The same, at the time of asking. */
  readonly isDirty: () => boolean;
  readonly save: () => Promise<void>;
  /** Saves what has changed, and starts a run. */
  readonly test: () => Promise<void>;
  readonly isSaving: boolean;
  readonly isTesting: boolean;
  /** Takes over what is saved now. */
  readonly rebase: (saved: RoutineForm) => void;
}

export interface EditorOptions {
  readonly initial: RoutineForm;
  /** Saves the form. Resolves with the id of the routine, or undefined where something else comes first. */
  readonly onSave: (form: RoutineForm, base: RoutineForm) => Promise<string | undefined>;
  /** Called after a save that the person asked for. */
  readonly onSaved: (routineId: string) => void;
  /** Starts a run of what is saved; without changes there is no id, as nothing was sent. */
  readonly onTest: (routineId: string | undefined) => Promise<void>;
}

/** Keeps the state of the form: what is saved, what is not, and the ways to save it. */
export function useEditor({ initial, onSave, onSaved, onTest }: EditorOptions): Editor {
  const form = useForm<RoutineForm>({ defaultValues: initial });
  const [base, setBase] = useState(initial);
  const saved = useRef(initial);
  const [busy, setBusy] = useState<'saving' | 'testing' | null>(null);
  const values = form.watch();
  const rebase = (next: RoutineForm) => {
    saved.current = next;
    setBase(next);
    form.reset(next);
  };
  const complete = () => {
    const now = form.getValues();
    return withVariables(now);
  };
  const isDirty = () => changedFields(saved.current, complete()).length > 0;
  const send = async (): Promise<string | undefined> => {
    form.clearErrors();
    const given = complete();
    const id = await onSave(given, saved.current);
    if (id !== undefined) rebase(given);
    return id;
  };
  const guarded = async (kind: 'saving' | 'testing', work: () => Promise<void>) => {
    if (busy !== null) return;
    setBusy(kind);
    await work().catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      showFaults(form, error, FAULT_NAMES);
    });
    setBusy(null);
  };
  return {
    form,
    base,
    hasChanges: changedFields(base, withVariables(values)).length > 0,
    isDirty,
    save: () =>
      guarded('saving', async () => {
        const id = await send();
        if (id !== undefined) onSaved(id);
      }),
    test: () =>
      guarded('testing', async () => {
        const needsSave = isDirty();
        const id = needsSave ? await send() : undefined;
        if (!needsSave || id !== undefined) await onTest(id);
      }),
    isSaving: busy === 'saving',
    isTesting: busy === 'testing',
    rebase,
  };
}
