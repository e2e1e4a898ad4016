import { useFormContext } from 'react-hook-form';
import type { Shape } from '#ui/api/types.ts';
import { Field } from '#ui/parts/field.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { Events, People, RECIPIENTS, recipientsOf, withRecipients, type Mail } from '#ui/parts/mail.tsx';
import { Select } from '#ui/parts/select.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { useProjects } from '#ui/shell/projects.ts';
import type { RoutineForm } from './form.ts';
import { Group } from './group.tsx';
import { messageAt, TextField } from './value-field.tsx';

const DELIVERIES = [
  { value: 'always', label: 'Every run that ends' },
  { value: 'changed', label: 'Changes and failures', hint: 'Needs a result schema' },
  { value: 'failed', label: 'Failures only' },
] as const;

export interface ToldProps {
  readonly mailDelivery: Shape<'RoutineDetail'>['mailDelivery'] | undefined;
}

/** Edits where results are sent and who is mailed. */
export function Told({ mailDelivery }: ToldProps) {
  const { watch, setValue, formState } = useFormContext<RoutineForm>();
  const [url, deliver, { mail, successPingUrl }] = watch(['webhookUrl', 'deliver', 'notifications']);
  const { errors } = formState;
  const change = (next: Mail | null) => setValue('notifications.mail', next, { shouldDirty: true });
  return (
    <Group
      title="Who is told"
      summary={[
        mail === null ? 'mail as the project sets it' : mail.on.length === 0 ? 'no mail' : 'mail',
        url !== null && 'webhook',
        successPingUrl !== null && 'monitor',
      ]
        .filter(Boolean)
        .join(', ')}
    >
      <TextField
        name="webhookUrl"
        optional
        description="Each run that ends is posted here, signed. The signing secret is shown once, after saving."
        placeholder="https://example.com/hooks/routine"
      />
      {url !== null && url !== '' && (
        <Field label="What is posted" className="max-w-80" error={messageAt(errors, 'deliver')}>
          <Select
            options={DELIVERIES}
            value={deliver}
            onChange={(next) => setValue('deliver', next, { shouldDirty: true })}
          />
        </Field>
      )}
      <div role="group" aria-labelledby="mail-label" className="flex flex-col gap-3">
        <p id="mail-label" className="text-sm font-medium text-ink">
          Mail
        </p>
        {mailDelivery === 'unavailable' && (
          <Notice>No mail server is set up, so no mail is sent. Your choice is kept.</Notice>
        )}
        <Checkbox
          label="As the project sets it"
          description="At most one mail an hour for each routine."
          checked={mail === null}
          onChange={(follows) => change(follows ? null : { on: ['failed', 'paused'], to: 'admins' })}
        />
        {mail !== null && <OwnMail mail={mail} onChange={change} />}
        {messageAt(errors, 'notifications.mail.on') !== undefined && (
          <p role="alert" className="text-sm text-bad-ink">
            {messageAt(errors, 'notifications.mail.on')}
          </p>
        )}
      </div>
      <TextField
        name="notifications.successPingUrl"
        optional
        description="Gets a request after each run that succeeded, so that your monitor notices when none comes."
        placeholder="https://monitor.example.com/ping/4f1c"
      />
    </Group>
  );
}

function OwnMail({ mail, onChange }: { mail: Mail; onChange: (mail: Mail) => void }) {
  const { formState } = useFormContext<RoutineForm>();
  const { organization } = useProjects();
  return (
    <div className="flex flex-col gap-4 border-l border-line pl-4">
      <div className="grid gap-2 sm:grid-cols-2">
        <Events mail={mail} onChange={onChange} />
      </div>
      <Field label="To" className="max-w-64" error={messageAt(formState.errors, 'notifications.mail.to')}>
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
