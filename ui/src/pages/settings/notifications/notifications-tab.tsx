import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Events, People, RECIPIENTS, recipientsOf, withRecipients, type Mail } from '#ui/parts/mail.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Select } from '#ui/parts/select.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { mayChange, OfOrganization } from '../of-organization.tsx';
import { ChatsSection } from './chats.tsx';
import { SharingSection } from './sharing.tsx';
import { DigestSection } from './digest-form.tsx';

/** Shows the digest of this person, and the recipients of mail about the routines of this project. */
export function NotificationsTab() {
  const project = useRead('/v1/projects/{projectId}', { path: { projectId: useProjectId() } });
  return (
    <Await of={project} skeleton={<SkeletonText lines={6} />} errorTitle="The project could not be read">
      {(detail) => (
        <>
          <DigestSection projectId={detail.id} />
          <ChatsSection />
          <SharingSection project={detail} />
          <Section
            title={`Mail about ${detail.name}`}
            description="For routines without settings of their own, and for the budgets of the project and its organization."
          >
            {detail.mailDelivery === 'unavailable' && (
              <Notice tone="warn" className="mb-4 max-w-xl">
                This service has no mail server: your choice is kept, and no mail is sent.
              </Notice>
            )}
            <OfOrganization>
              {(organization) => (
                <MailForm project={detail} organizationId={organization.id} mayChange={mayChange(organization)} />
              )}
            </OfOrganization>
          </Section>
        </>
      )}
    </Await>
  );
}

const NO_MAIL: Mail = { on: [], to: 'admins' };

interface MailFormProps {
  readonly project: Shape<'ProjectDetail'>;
  readonly organizationId: string;
  readonly mayChange: boolean;
}

/** Edits the events and recipients of mail. Without an event no mail is sent. */
function MailForm({ project, organizationId, mayChange }: MailFormProps) {
  const [edited, setEdited] = useState<Mail>();
  const mail = edited ?? project.notifications.mail ?? NO_MAIL;
  const save = useSend('patch', '/v1/projects/{projectId}', {
    refreshes: ['/v1/projects'],
    done: 'Notifications saved',
    showsError: true,
  });
  return (
    <form
      className="flex max-w-xl flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        void save.sendAsync({ path: { projectId: project.id }, body: { notifications: { mail } } }).then(
          () => setEdited(undefined),
          () => undefined,
        );
      }}
    >
      {!mayChange && <Notice>Owners and admins of the organization change these settings.</Notice>}
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-2 text-sm font-medium text-ink">Mail when</legend>
        <Events mail={mail} described disabled={!mayChange} onChange={setEdited} />
      </fieldset>
      <Field label="To" description="Mail goes only to confirmed addresses of people who are members when it is sent.">
        <Select
          options={RECIPIENTS}
          disabled={!mayChange}
          value={recipientsOf(mail)}
          onChange={(next) => setEdited(withRecipients(mail, next))}
        />
      </Field>
      {typeof mail.to !== 'string' && (
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-2 text-sm font-medium text-ink">People</legend>
          <People
            organizationId={organizationId}
            chosen={mail.to}
            disabled={!mayChange}
            onChange={(to) => setEdited({ ...mail, to })}
          />
        </fieldset>
      )}
      <FormError message={errorInWords(save.error)} />
      {mayChange && (
        <div>
          <Button
            kind="primary"
            type="submit"
            busy={save.isSending}
            disabledReason={edited === undefined ? 'Nothing has changed.' : undefined}
          >
            Save
          </Button>
        </div>
      )}
    </form>
  );
}
