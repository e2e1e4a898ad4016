import { useFormContext, useWatch } from 'react-hook-form';
import type { Shape } from '#ui/api/types.ts';
import { Field } from '#ui/parts/field.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { Events, People, RECIPIENTS, recipientsOf, withRecipients, type Mail } from '#ui/parts/mail.tsx';
import { Select } from '#ui/parts/select.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { useProjects } from '#ui/shell/projects.ts';
import type { RoutineForm } from './form.ts';
import { Group, Part } from './group.tsx';
import { Readers } from './readers.tsx';
import { FieldOf, useMessageAt } from './value-field.tsx';

export interface ToldProps {
  readonly mailDelivery: Shape<'RoutineDetail'>['mailDelivery'] | undefined;
}

/** Edits the recipients of results and of mail about problems. */
export function Told({ mailDelivery }: ToldProps) {
  const { control, setValue } = useFormContext<RoutineForm>();
  const hasWebhook = useWatch({ control, name: 'webhookUrl', compute: Boolean });
  const mail = useWatch<RoutineForm, 'notifications.mail'>({ name: 'notifications.mail' });
  const change = (next: Mail | null) => setValue('notifications.mail', next, { shouldDirty: true });
  const error = useMessageAt('notifications.mail.on');
  return (
    <Group title="Who is told">
      <Part title="Who gets the results">
        <Readers />
      </Part>
      <Part title="Mail about problems">
        {mailDelivery === 'unavailable' && (
          <Notice>No mail server is set up, so no mail is sent. Your choice is kept.</Notice>
        )}
        <Checkbox
          label="As set for the project"
          description="At most one mail an hour for each routine."
          checked={mail === null}
          onChange={(follows) => change(follows ? null : { on: ['failed', 'paused'], to: 'admins' })}
        />
        {mail !== null && <OwnMail mail={mail} onChange={change} />}
        {error !== undefined && (
          <p role="alert" className="text-sm text-bad-ink">
            {error}
          </p>
        )}
      </Part>
      <Part title="Programs">
        <FieldOf name="webhookUrl" />
        {hasWebhook && <FieldOf name="deliver" />}
        <FieldOf name="notifications.successPingUrl" />
      </Part>
    </Group>
  );
}

function OwnMail({ mail, onChange }: { mail: Mail; onChange: (mail: Mail) => void }) {
  const { organization } = useProjects();
  return (
    <div className="flex flex-col gap-4 border-l border-line pl-4">
      <div className="grid gap-2 sm:grid-cols-2">
        <Events mail={mail} onChange={onChange} />
      </div>
      <Field label="To" className="max-w-64" error={useMessageAt('notifications.mail.to')}>
        <Select
          options={RECIPIENTS}
          value={recipientsOf(mail)}
          onChange={(next) => onChange(withRecipients(mail, next))}
        />
      </Field>
      {typeof mail.to !== 'string' && (
        <div className="grid gap-2 sm:grid-cols-2">
          <People organizationId={organization?.id} chosen={mail.to} onChange={(to) => onChange({ ...mail, to })} />
        </div>
      )}
    </div>
  );
}
