import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useProjectId } from '#ui/api/project.ts';
import { bothOf, useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { plural } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { CopyField } from '#ui/parts/copy.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Select } from '#ui/parts/select.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';

interface ShareProps {
  readonly runId: string;
  readonly onClose: () => void;
}

/** Makes links to a result, and ends them. */
export default function ShareDialog({ runId, onClose }: ShareProps) {
  const projectId = useProjectId();
  const project = useRead('/v1/projects/{projectId}', { path: { projectId } });
  const links = useRead('/v1/runs/{runId}/links', { path: { runId } });
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title="Share this result"
      description="Everyone who has a link can read this result and its data, without a sign-in, until the link ends. The link shows no instructions, steps or costs."
    >
      <Await of={bothOf(project, links)} skeleton={<SkeletonText lines={4} />}>
        {([{ sharedLinksEnabled }, held]) =>
          sharedLinksEnabled ? (
            <>
              <NewLink runId={runId} />
              {held.length > 0 && <Links links={held} />}
            </>
          ) : (
            <Notice>
              <span>
                This project shares no results. An owner or admin can switch links on in the{' '}
                <TextLink to="/p/$projectId/settings" params={{ projectId }} search={{ tab: 'notifications' }}>
                  settings
                </TextLink>
                .
              </span>
            </Notice>
          )
        }
      </Await>
    </Dialog>
  );
}

const DAYS = [
  { value: '1', label: 'For a day' },
  { value: '7', label: 'For a week' },
  { value: '30', label: 'For 30 days' },
  { value: '90', label: 'For 90 days' },
] as const;

function NewLink({ runId }: { readonly runId: string }) {
  const [days, setDays] = useState<(typeof DAYS)[number]['value']>('7');
  const make = useSend('post', '/v1/runs/{runId}/links', { refreshes: ['/v1/runs'], showsError: true });
  const url = make.data?.url;
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-3">
        <Field label="The link works" className="w-40">
          <Select options={DAYS} value={days} onChange={setDays} />
        </Field>
        <Button
          kind="primary"
          busy={make.isSending}
          onClick={() => make.send({ path: { runId }, body: { expiresInDays: Number(days) } })}
        >
          Make a link
        </Button>
      </div>
      {url != null && (
        <div role="status">
          <CopyField value={url} label="Copy the link" />
          <p className="mt-1 text-sm text-muted">Copy the link now: it is not shown again.</p>
        </div>
      )}
      <FormError message={errorInWords(make.error)} />
    </div>
  );
}

function Links({ links }: { readonly links: readonly Shape<'SharedLink'>[] }) {
  const end = useSend('delete', '/v1/runs/{runId}/links/{linkId}', { refreshes: ['/v1/runs'], done: 'The link ended' });
  return (
    <ul aria-label="Links that still work" className="rounded-lg border border-line">
      {links.map(({ id, runId, createdBy, createdAt, expiresAt, views, lastSeenAt }) => (
        <li
          key={id}
          className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-2 last:border-b-0"
        >
          <span className="min-w-0 grow text-sm text-muted">
            <span className="block text-ink">
              Made <Time at={createdAt} as="relative" />
              {createdBy?.name != null && ` by ${createdBy.name}`}, ends <Time at={expiresAt} as="relative" />
            </span>
            {lastSeenAt === null ? (
              'Not read yet'
            ) : (
              <>
                Read {plural(views, 'time')}, last <Time at={lastSeenAt} as="relative" />
              </>
            )}
          </span>
          <Button size="sm" busy={end.isSending} onClick={() => end.send({ path: { runId, linkId: id } })}>
            End it
          </Button>
        </li>
      ))}
    </ul>
  );
}
