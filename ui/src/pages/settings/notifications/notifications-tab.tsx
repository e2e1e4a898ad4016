import { useRead } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { mayChange, OfOrganization } from '../of-organization.tsx';
import { MailForm } from './mail-form.tsx';

/** Shows who is mailed about the routines of this project. */
export function NotificationsTab() {
  const project = useRead('/v1/projects/{projectId}', { path: { projectId: useProjectId() } });
  return (
    <Await
      of={project}
      skeleton={<SkeletonText lines={6} />}
      errorTitle="The project could not be read"
    >
      {(detail) => (
        <Section
          title={`Mail about ${detail.name}`}
          description="For the routines that say nothing of their own, and for the budgets of the project and its organization."
        >
          {detail.mailDelivery === 'unavailable' && (
            <Notice tone="warn" className="mb-4 max-w-xl">
              This service has no mail server: your choice is kept, and no mail is sent.
            </Notice>
          )}
          <OfOrganization>
            {(organization) => (
              <MailForm
                project={detail}
                organizationId={organization.id}
                mayChange={mayChange(organization)}
              />
            )}
          </OfOrganization>
        </Section>
      )}
    </Await>
  );
}
