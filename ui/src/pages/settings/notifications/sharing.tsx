import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { Section } from '#ui/parts/page.tsx';
import { Switch } from '#ui/parts/toggles.tsx';
import { mayChange, OfOrganization } from '../of-organization.tsx';

/** Lets an owner or admin allow links to results of the project. */
export function SharingSection({ project }: { readonly project: Shape<'ProjectDetail'> }) {
  const save = useSend('patch', '/v1/projects/{projectId}', {
    refreshes: ['/v1/projects'],
    done: ({ sharedLinksEnabled }) => (sharedLinksEnabled ? 'Results can be shared' : 'All links have ended'),
  });
  return (
    <Section title="Links to results">
      <OfOrganization>
        {(organization) => (
          <Switch
            label="Let people share single results by a link"
            description={
              mayChange(organization)
                ? 'A link needs no sign-in, and ends after 90 days at the latest. If you switch links off, all links end for good.'
                : 'Only owners and admins can switch links on or off.'
            }
            checked={save.sent?.body.sharedLinksEnabled ?? project.sharedLinksEnabled}
            disabled={!mayChange(organization) || save.isSending}
            onChange={(on) => save.send({ path: { projectId: project.id }, body: { sharedLinksEnabled: on } })}
          />
        )}
      </OfOrganization>
    </Section>
  );
}
