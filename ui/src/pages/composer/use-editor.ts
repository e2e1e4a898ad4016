import { useRef, useState } from 'react';
import { useForm, useWatch, type UseFormReturn } from 'react-hook-form';
import { ApiError } from '#ui/api/error.ts';
import { showFaults } from '#ui/api/form.ts';
import { changedFields, FAULT_NAMES, type RoutineForm } from './form.ts';
import { withVariables } from './instructions.tsx';

/** `rehearse` calls no tool that may write. */
export type TestMode = 'run' | 'rehearse';

export interface Editor {
  readonly form: UseFormReturn<RoutineForm>;
  /** The fields with unsaved changes. */
  readonly changed: readonly (keyof RoutineForm)[];
  /** Returns true if there are unsaved changes at the time of the call. */
  readonly isDirty: () => boolean;
  readonly save: () => Promise<void>;
  /** Saves the changes and starts a run. */
  readonly test: (mode?: TestMode) => Promise<void>;
  /**
   * Opens a proposal with the changes while the routine continues unchanged; undefined for a routine without an active
   * schedule.
   */
  readonly propose: (() => Promise<void>) | undefined;
  readonly isSaving: boolean;
  readonly isTesting: boolean;
  readonly isProposing: boolean;
  /** Loads the saved version into the form; `keepValues` keeps later edits. */
  readonly rebase: (saved: RoutineForm, options?: { readonly keepValues: boolean }) => void;
}

export interface EditorOptions {
  readonly initial: RoutineForm;
  /**
   * True for a routine that exists. A new one is sent even when it is empty, so that the server names the required
   * fields.
   */
  readonly isSaved: boolean;
  /** Saves the form. Resolves with the id of the routine, or undefined if the person has to act first. */
  readonly onSave: (form: RoutineForm, base: RoutineForm) => Promise<string | undefined>;
  /** Called after a save that the person asked for. */
  readonly onSaved: (routineId: string) => void;
  /** Starts a run of the saved version. The id is undefined if there were no changes to save. */
  readonly onTest: (routineId: string | undefined, mode: TestMode) => Promise<void>;
  /** Opens a proposal with the form. Its changes stay unsaved here until they are taken over. */
  readonly onPropose?: ((form: RoutineForm, base: RoutineForm) => Promise<void>) | undefined;
}

type Work = 'saving' | 'testing' | 'proposing';

/** Keeps the state of the form: saved fields, changed fields and the actions that save. */
export function useEditor({ initial, isSaved, onSave, onSaved, onTest, onPropose }: EditorOptions): Editor {
  const form = useForm<RoutineForm>({ defaultValues: initial });
  const saved = useRef(initial);
  const [busy, setBusy] = useState<Work | null>(null);
  const changedIn = (values: RoutineForm) => changedFields(saved.current, withVariables(values));
  // Redraw when the list of changed fields changes, and not at every key.
  useWatch({ control: form.control, compute: (values) => changedIn(values).join() });
  const [base, setBase] = useState(initial);
  const changed = changedFields(base, withVariables(form.getValues()));
  const rebase: Editor['rebase'] = (next, options) => {
    saved.current = next;
    form.reset(next, options);
    setBase(next);
  };
  const isDirty = () => changedIn(form.getValues()).length > 0;
  const send = async (): Promise<string | undefined> => {
    form.clearErrors();
    const given = withVariables(form.getValues());
    const id = await onSave(given, saved.current);
    if (id !== undefined) rebase(given);
    return id;
  };
  const guarded = async (kind: Work, work: () => Promise<void>) => {
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
    changed,
    isDirty,
    save: () =>
      guarded('saving', async () => {
        const id = await send();
        if (id !== undefined) onSaved(id);
      }),
    test: (mode = 'run') =>
      guarded('testing', async () => {
        if (isSaved && !isDirty()) return onTest(undefined, mode);
        const id = await send();
        if (id !== undefined) await onTest(id, mode);
      }),
    propose:
      onPropose &&
      (() =>
        guarded('proposing', () => {
          form.clearErrors();
          return onPropose(withVariables(form.getValues()), saved.current);
        })),
    isSaving: busy === 'saving',
    isTesting: busy === 'testing',
    isProposing: busy === 'proposing',
    rebase,
  };
}
