import { getRouteApi, lazyRouteComponent } from '@tanstack/react-router';
import { Suspense } from 'react';
import { PageHeader } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Tabs, type Tab } from '#ui/parts/tabs.tsx';
import { OrganizationTab } from './organization/organization-tab.tsx';

// The first tab comes with the page, the others when they are opened.
const AccountTab = lazyRouteComponent(() => import('./account/account-tab.tsx'), 'AccountTab');
const AssistantsTab = lazyRouteComponent(() => import('./assistants/assistants-tab.tsx'), 'AssistantsTab');
const AuditTab = lazyRouteComponent(() => import('./audit/audit-tab.tsx'), 'AuditTab');
const FactsTab = lazyRouteComponent(() => import('./facts/facts-tab.tsx'), 'FactsTab');
const MembersTab = lazyRouteComponent(() => import('./members/members-tab.tsx'), 'MembersTab');
const NotificationsTab = lazyRouteComponent(() => import('./notifications/notifications-tab.tsx'), 'NotificationsTab');
const ProjectsTab = lazyRouteComponent(() => import('./projects/projects-tab.tsx'), 'ProjectsTab');

const { useNavigate, useSearch } = getRouteApi('/account/p/$projectId/settings');

type TabName = 'organization' | 'members' | 'projects' | 'facts' | 'notifications' | 'assistants' | 'account' | 'audit';

const TABS: readonly Tab<TabName>[] = [
  { value: 'organization', label: 'Organization', panel: <OrganizationTab /> },
  { value: 'members', label: 'Members', panel: <MembersTab /> },
  { value: 'projects', label: 'Projects', panel: <ProjectsTab /> },
  { value: 'facts', label: 'Facts', panel: <FactsTab /> },
  { value: 'notifications', label: 'Notifications', panel: <NotificationsTab /> },
  { value: 'assistants', label: 'Assistants', panel: <AssistantsTab /> },
  { value: 'account', label: 'Your account', panel: <AccountTab /> },
  { value: 'audit', label: 'Audit log', panel: <AuditTab /> },
];

/** Shows the settings of the organization, its projects and the person, each under an address of its own. */
export function SettingsPage() {
  const { tab } = useSearch();
  const navigate = useNavigate();
  const open = TABS.find(({ value }) => value === tab)?.value ?? 'organization';
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs
        label="Settings"
        tabs={TABS.map((each) => ({
          ...each,
          panel: <Suspense fallback={<SkeletonRows />}>{each.panel}</Suspense>,
        }))}
        value={open}
        onChange={(next) => void navigate({ search: { tab: next } })}
      />
    </>
  );
}
