import { getRouteApi } from '@tanstack/react-router';
import { PageHeader } from '#ui/parts/page.tsx';
import { Tabs, type Tab } from '#ui/parts/tabs.tsx';
import { AccountTab } from './account/account-tab.tsx';
import { AuditTab } from './audit/audit-tab.tsx';
import { MembersTab } from './members/members-tab.tsx';
import { NotificationsTab } from './notifications/notifications-tab.tsx';
import { OrganizationTab } from './organization/organization-tab.tsx';
import { ProjectsTab } from './projects/projects-tab.tsx';

const { useNavigate, useSearch } = getRouteApi('/account/p/$projectId/settings');

type TabName = 'organization' | 'members' | 'projects' | 'notifications' | 'account' | 'audit';

const TABS: readonly Tab<TabName>[] = [
  { value: 'organization', label: 'Organization', panel: <OrganizationTab /> },
  { value: 'members', label: 'Members', panel: <MembersTab /> },
  { value: 'projects', label: 'Projects', panel: <ProjectsTab /> },
  { value: 'notifications', label: 'Notifications', panel: <NotificationsTab /> },
  { value: 'account', label: 'Your account', panel: <AccountTab /> },
  { value: 'audit', label: 'Audit log', panel: <AuditTab /> },
];

/** The settings of the organization, its projects and the person, each under an address of its own. */
export function SettingsPage() {
  const { tab } = useSearch();
  const navigate = useNavigate();
  const open = TABS.find(({ value }) => value === tab)?.value ?? 'organization';
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs
        label="Settings"
        tabs={TABS}
        value={open}
        onChange={(next) => void navigate({ search: { tab: next } })}
      />
    </>
  );
}
