import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useForm, useWatch } from 'react-hook-form';
import { call } from '#ui/api/call.ts';
import { ApiError } from '#ui/api/error.ts';
import { submitTo } from '#ui/api/form.ts';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { count } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { cx } from '#ui/parts/cx.ts';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Textarea } from '#ui/parts/input.tsx';
import { LeaveGuard } from '#ui/parts/leave-guard.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { TextDiff } from '#ui/parts/lazily.tsx';
import { Time } from '#ui/parts/time.tsx';
import { OneVersion, Versions } from './versions.tsx';

const { useSearch } = getRouteApi('/account/p/$projectId/settings');

/** Edits the facts of the project, and shows their versions. */
export function FactsTab() {
  const projectId = useProjectId();
  const { version } = useSearch();
  const facts = useRead('/v1/projects/{projectId}/facts', { path: { projectId } });
  if (version !== undefined) return <OneVersion version={version} />;
  return (
    <Await of={facts} skeleton={<SkeletonText lines={10} />} errorTitle="The facts of the project could not be read">
      {(data) => (
        <>
          <Section
            title="Project facts"
            description="The facts for the routines of this project: brand terms, margin, markets, owners, permitted claims, voice. A routine gets these facts if its settings say so."
          >
            <FactsForm key={projectId} saved={{ facts: data, etag: facts.etag }} />
          </Section>
          {data.version > 0 && <Versions />}
        </>
      )}
    </Await>
  );
}

interface Saved {
  readonly facts: Shape<'ProjectFacts'>;
  /** Version for `If-Match`, so that a user does not overwrite a version that they have not seen. */
  readonly etag: string | undefined;
}

function FactsForm({ saved }: { readonly saved: Saved }) {
  const projectId = useProjectId();
  // The version that the edit began with.
  const [base, setBase] = useState(saved);
  const [theirs, setTheirs] = useState<Saved>();
  const form = useForm({ defaultValues: { text: saved.facts.text } });
  const { isDirty, errors } = form.formState;
  const save = useSend('put', '/v1/projects/{projectId}/facts', {
    refreshes: ['/v1/projects', '/v1/routines'],
    done: ({ version }) => `Version ${version} saved`,
    showsError: true,
    onDone: (facts, { etag }) => begin({ facts, etag }),
  });
  const begin = (next: Saved) => {
    setBase(next);
    setTheirs(undefined);
    form.reset({ text: next.facts.text });
  };
  const isBehind = saved.facts.version > base.facts.version && !isDirty;
  useEffect(() => {
    if (isBehind) begin(saved);
  });
  const submit = submitTo(form, async ({ text }) => {
    const { etag: ifMatch } = theirs ?? base;
    try {
      await save.sendAsync({ path: { projectId }, body: { text } }, { ifMatch });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'precondition_failed') throw error;
      const path = { projectId };
      const now = await call('get', '/v1/projects/{projectId}/facts', { path }, { projectId });
      setTheirs({ facts: now.data, etag: now.etag });
    }
  });
  const text = useWatch({ control: form.control, name: 'text' });
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <Field
        label="Facts"
        description={<Standing facts={base.facts} />}
        error={errors.text?.message}
        aside={<Counter text={text} />}
      >
        <Textarea {...form.register('text')} mono rows={16} spellCheck placeholder={EXAMPLE} />
      </Field>
      {theirs !== undefined && <Conflict theirs={theirs.facts} mine={text} />}
      <FormError message={errors.root?.message} />
      <div className="flex flex-wrap items-center gap-3">
        <Button
          kind="primary"
          type="submit"
          busy={save.isSending}
          disabledReason={isDirty ? undefined : 'Nothing has changed.'}
        >
          {theirs === undefined ? 'Save facts' : 'Replace their version by mine'}
        </Button>
        {theirs !== undefined && <Button onClick={() => begin(theirs)}>Take theirs</Button>}
        {isDirty && theirs === undefined && (
          <Button kind="quiet" onClick={() => form.reset()}>
            Discard changes
          </Button>
        )}
      </div>
      <LeaveGuard isDirty={() => isDirty} />
    </form>
  );
}

const EXAMPLE = `For example:

Brand terms: Acme, Acme Cloud (never "ACME")
Gross margin: 62 %
Markets: Germany, Austria; no claims about other countries
Owner of paid search: Grace Hopper
Permitted claims: "certified to ISO 27001" since March 2025
Voice: plain, no exclamation marks`;

function Standing({ facts: { version, createdAt, createdBy } }: Pick<Saved, 'facts'>) {
  if (createdAt === null) {
    return 'No facts yet. Routines that use the facts are told that there are none.';
  }
  return (
    <>
      Version {version}, saved <Time at={createdAt} as="relative" />
      {createdBy?.name != null && <> by {createdBy.name}</>}. Manual runs use the newest text, scheduled runs the text
      from their activation.
    </>
  );
}

const MAX = 24_000;

function Counter({ text }: { readonly text: string }) {
  // Count characters as the service does: an emoji is one.
  const { length } = Array.from(text);
  return (
    <span className={cx(length > MAX && 'text-bad-ink')}>
      {count(length)} of {count(MAX)} characters
    </span>
  );
}

/** Shows a version that another user has saved meanwhile beside the unsaved text. */
function Conflict({ theirs, mine }: { readonly theirs: Shape<'ProjectFacts'>; readonly mine: string }) {
  return (
    <div className="flex flex-col gap-2">
      <Notice tone="warn">
        <span>
          {theirs.createdBy?.name ?? 'Another user'} has saved version {theirs.version} meanwhile. Your text is not
          saved yet. Lines with − are only in that version, lines with + only in your text. Copy the lines that you want
          to keep into your text.
        </span>
      </Notice>
      <TextDiff label="Their text against yours" before={theirs.text} after={mine} />
    </div>
  );
}
