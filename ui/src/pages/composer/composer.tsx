import { FormProvider, useFormContext } from 'react-hook-form';
import { lazy, Suspense, type ReactNode } from 'react';
import type { Shape } from '#ui/api/types.ts';
import { listInWords, materialAmong } from '#ui/parts/routine-fields.ts';
import { Button } from '#ui/parts/button.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { Lazily } from '#ui/parts/lazily.tsx';
import { LeaveGuard } from '#ui/parts/leave-guard.tsx';
import { Box, Section } from '#ui/parts/page.tsx';
import { Skeleton, SkeletonText } from '#ui/parts/skeleton.tsx';
import { Advanced } from './advanced.tsx';
import { PARTS, type RoutineForm } from './form.ts';
import { Instructions } from './instructions.tsx';
import type { Editor } from './use-editor.ts';
import { useRehearsal } from './use-rehearsal.ts';
import { FieldOf } from './value-field.tsx';

// Fields below and beside the instructions, whose code loads after that of the instructions.
const Opinions = lazy(() => import('./opinions.tsx'));
const ModelField = lazy(() => import('./model-field.tsx'));
const ScheduleField = lazy(() => import('./schedule-field.tsx'));
const Settings = lazy(() => import('./settings.tsx'));
const SkillsField = lazy(() => import('./skills-field.tsx'));
const TestRun = lazy(() => import('./test-run.tsx'));

export interface ComposerProps {
  readonly editor: Editor;
  readonly routine: Shape<'RoutineDetail'> | undefined;
  readonly runId: string | undefined;
  readonly cancel: ReactNode;
}

/** Shows the form of a routine, with a test run beside it. */
export function Composer({ editor, routine, runId, cancel }: ComposerProps) {
  const { form, save, isSaving, isDirty } = editor;
  const rehearsal = useRehearsal(routine?.id);
  const test = () => editor.test(rehearsal.rehearses === true ? 'rehearse' : 'run');
  return (
    <FormProvider {...form}>
      <LeaveGuard isDirty={isDirty} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a key beside the button for it */}
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
          event.preventDefault();
          void test();
        }}
        className="grid gap-x-8 gap-y-8 lg:grid-cols-[minmax(0,1fr)_22rem]"
      >
        <div className="min-w-0">
          <Section title="What it does">
            <Box className="flex flex-col gap-5">
              <div id={PARTS.what}>
                <FieldOf name="name" />
              </div>
              <Instructions />
              {routine !== undefined && (
                <Suspense>
                  <Opinions routineId={routine.id} />
                </Suspense>
              )}
              <div id={PARTS.skills}>
                <Lazily skeleton={<Skeleton className="h-14" />}>
                  <SkillsField />
                </Lazily>
              </div>
              <div id={PARTS.model}>
                <Lazily skeleton={<Skeleton className="h-14" />}>
                  <ModelField routineId={routine?.id} />
                </Lazily>
              </div>
            </Box>
          </Section>
          <Section title="Schedule">
            <Box>
              <div id={PARTS.schedule}>
                <Lazily skeleton={<Skeleton className="h-56" />}>
                  <ScheduleField />
                </Lazily>
              </div>
            </Box>
          </Section>
          <Advanced startsOpen={routine !== undefined}>
            <Lazily skeleton={<Skeleton className="h-60 rounded-lg" />}>
              <Settings routine={routine} />
            </Lazily>
          </Advanced>
          <SaveBar editor={editor} routine={routine} isSaving={isSaving} cancel={cancel} />
        </div>
        <aside className="lg:sticky lg:top-8 lg:self-start">
          <Lazily skeleton={<Skeleton className="h-40 rounded-lg" />}>
            <TestRun
              runId={runId}
              onTest={() => void test()}
              rehearsal={rehearsal}
              isStarting={editor.isTesting}
              isDirty={routine === undefined || editor.changed.length > 0}
            />
          </Lazily>
        </aside>
      </form>
    </FormProvider>
  );
}

function SaveBar({
  editor,
  routine,
  isSaving,
  cancel,
}: Pick<ComposerProps, 'editor' | 'routine' | 'cancel'> & { isSaving: boolean }) {
  const { formState } = useFormContext<RoutineForm>();
  const proposes = editor.propose !== undefined && materialAmong(editor.changed).length > 0;
  return (
    <div className="sticky bottom-0 z-20 -mx-4 mt-8 border-t border-line bg-canvas px-4 py-3 sm:-mx-2 sm:px-2">
      <FormError message={formState.errors.root?.message} />
      <div className="flex flex-wrap items-center justify-end gap-x-4 gap-y-2">
        <p role="status" className="min-w-0 grow text-sm text-muted">
          {consequenceOf(editor.changed, routine)}
        </p>
        <div className="flex gap-2">
          {cancel}
          <Button
            type="submit"
            kind={proposes ? 'secondary' : 'primary'}
            busy={isSaving}
            disabledReason={routine !== undefined && editor.changed.length === 0 ? 'Nothing has changed.' : undefined}
          >
            {routine === undefined ? 'Save draft' : proposes ? 'Save as draft' : 'Save'}
          </Button>
          {proposes && (
            <Button
              kind="primary"
              busy={editor.isProposing}
              disabledReason={routine?.proposal?.state === 'open' ? 'A change is being tried.' : undefined}
              onClick={() => void editor.propose?.()}
            >
              Save, test and keep active
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}

/** Says before saving how saving changes the routine. */
function consequenceOf(changed: Editor['changed'], routine: ComposerProps['routine']): string {
  if (routine === undefined) return 'The routine is saved as a draft. It runs on schedule once you activate it.';
  if (changed.length === 0) return 'Nothing has changed.';
  const material = materialAmong(changed);
  if (material.length === 0) {
    return routine.state === 'draft' ? 'The routine stays a draft.' : `The routine stays ${routine.state}.`;
  }
  const what = `Changed ${listInWords(material)}`;
  if (routine.proposal?.state === 'open') return 'A change is being tried. If you save, that change is dropped.';
  if (routine.state === 'active') {
    return `${what}: test the change while the schedule continues, or save it as a draft.`;
  }
  return routine.state === 'draft'
    ? `${what}: the routine needs a good test run before it can be activated.`
    : `${what}: saving returns the routine to draft, until a test run succeeds and you activate it again.`;
}

export function ComposerSkeleton() {
  return (
    <div className="grid gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="flex flex-col gap-6 rounded-lg border border-line bg-surface p-4">
        <Skeleton className="h-8" />
        <SkeletonText lines={8} />
        <Skeleton className="h-8" />
      </div>
      <Skeleton className="h-40 rounded-lg" />
    </div>
  );
}
