import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { Button } from '#ui/parts/button.tsx';
import { Combobox } from '#ui/parts/combobox.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Select } from '#ui/parts/select.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { Time } from '#ui/parts/time.tsx';

type Digest = Shape<'Digest'>;
type Choice = Pick<Digest, 'frequency' | 'weekday' | 'hour' | 'timezone'>;

/** Lets a person choose when they get the digest of this project. */
export function DigestSection({ projectId }: { readonly projectId: string }) {
  const digest = useRead('/v1/projects/{projectId}/digest', { path: { projectId } });
  return (
    <Section
      title="Your digest"
      description="One mail with the news on Home since the previous digest: results worth reading, and problems that need attention. Digests of several projects at the same hour come as one mail. If nothing is new, no mail is sent. Each person chooses for themselves."
    >
      <Await of={digest} skeleton={<SkeletonText lines={3} />} errorTitle="Your digest could not be read">
        {(chosen) => <DigestForm digest={chosen} projectId={projectId} />}
      </Await>
    </Section>
  );
}

function DigestForm({ digest, projectId }: { digest: Digest; projectId: string }) {
  const [edited, setEdited] = useState<Partial<Choice>>();
  // A person who never had a digest begins with the time zone of their browser.
  const first = digest.frequency === 'off' && digest.timezone === 'UTC';
  const choice = { ...digest, ...(first ? { timezone: VIEWER_ZONE } : {}), ...edited };
  const { frequency, weekday, hour, timezone } = choice;
  const edit = (change: Partial<Choice>) => setEdited({ ...edited, ...change });
  const save = useSend('patch', '/v1/projects/{projectId}/digest', {
    refreshes: ['/v1/projects'],
    done: 'Digest saved',
    showsError: true,
  });
  return (
    <form
      className="flex max-w-xl flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        void save.sendAsync({ path: { projectId }, body: { frequency, weekday, hour, timezone } }).then(
          () => setEdited(undefined),
          () => undefined,
        );
      }}
    >
      <div className="flex flex-wrap gap-x-3 gap-y-4">
        <Field label="How often" className="w-40 max-sm:w-full">
          <Select options={FREQUENCIES} value={frequency} onChange={(next) => edit({ frequency: next })} />
        </Field>
        {frequency === 'weekly' && (
          <Field label="On" className="w-40 max-sm:w-full">
            <Select options={WEEKDAYS} value={weekday} onChange={(next) => edit({ weekday: next })} />
          </Field>
        )}
        {frequency !== 'off' && (
          <>
            <Field label="At" className="w-28 max-sm:w-full">
              <Select options={HOURS} value={String(hour)} onChange={(next) => edit({ hour: Number(next) })} />
            </Field>
            <Field label="Time zone" className="w-60 max-sm:w-full">
              <Combobox
                items={ZONES}
                value={timezone}
                onChange={(next) => edit({ timezone: next })}
                keyOf={(each) => each}
                labelOf={(each) => (each === VIEWER_ZONE ? `${each} (yours)` : each)}
                empty="No zone has this name."
              />
            </Field>
          </>
        )}
      </div>
      {edited === undefined && digest.nextAt !== null && (
        <p className="text-sm text-muted">
          Next digest <Time at={digest.nextAt} zone={digest.timezone} />, if there is news.
        </p>
      )}
      <FormError message={errorInWords(save.error)} />
      <div>
        <Button
          kind="primary"
          type="submit"
          busy={save.isSending}
          disabledReason={edited === undefined ? 'Nothing has changed.' : undefined}
        >
          Save the digest
        </Button>
      </div>
    </form>
  );
}

const FREQUENCIES = [
  { value: 'off', label: 'Never' },
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'Every week' },
] as const;

const WEEKDAYS = [
  { value: 'monday', label: 'Monday' },
  { value: 'tuesday', label: 'Tuesday' },
  { value: 'wednesday', label: 'Wednesday' },
  { value: 'thursday', label: 'Thursday' },
  { value: 'friday', label: 'Friday' },
  { value: 'saturday', label: 'Saturday' },
  { value: 'sunday', label: 'Sunday' },
] as const;

const HOURS = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  label: `${String(hour).padStart(2, '0')}:00`,
}));

const ZONES: readonly string[] = [...new Set(['UTC', VIEWER_ZONE, ...Intl.supportedValuesOf('timeZone')])].toSorted();
