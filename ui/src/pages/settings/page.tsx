import { getRouteApi } from '@tanstack/react-router';
import { Suspense, type ReactNode } from 'react';
import { PageHeader } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Tabs } from '#ui/parts/tabs.tsx';
import { SETTINGS } from '#ui/shell/navigation.ts';
import { lazyPage } from '#ui/shell/offline.ts';
import { OrganizationTab } from './organization/organization-tab.tsx';

// The code of the first tab loads with the page; the code of the others loads when they are opened.
const AccountTab = lazyPage(() => import('./account/account-tab.tsx'), 'AccountTab');
const AssistantsTab = lazyPage(() => import('./assistants/assistants-tab.tsx'), 'AssistantsTab');
const AuditTab = lazyPage(() => import('./audit/audit-tab.tsx'), 'AuditTab');
const FactsTab = lazyPage(() => import('./facts/facts-tab.tsx'), 'FactsTab');
const MembersTab = lazyPage(() => import('./members/members-tab.tsx'), 'MembersTab');
const NotificationsTab = lazyPage(() => import('./notifications/notifications-tab.tsx'), 'NotificationsTab');
const ProjectsTab = lazyPage(() => import('./projects/projects-tab.tsx'), 'ProjectsTab');

const { useNavigate, useSearch } = getRouteApi('/account/p/$projectId/settings');

const PANELS: Readonly<Record<(typeof SETTINGS)[number]['value'], ReactNode>> = {
  organization: <OrganizationTab />,
  members: <MembersTab />,
  projects: <ProjectsTab />,
  facts: <FactsTab />,
  notifications: <NotificationsTab />,
  assistants: <AssistantsTab />,
  account: <AccountTab />,
  audit: <AuditTab />,
};

/** Shows the settings of the organization, its projects and the person, each under an address of its own. */
export function SettingsPage() {
  const { tab } = useSearch();
  const navigate = useNavigate();
  const open = SETTINGS.find(({ value }) => value === tab)?.value ?? 'organization';
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs
        label="Settings"
        tabs={SETTINGS.map(({ value, label, group }) => ({
          value,
          label,
          group,
          panel: <Suspense fallback={<SkeletonRows />}>{PANELS[value]}</Suspense>,
        }))}
        value={open}
        onChange={(next) => void navigate({ search: { tab: next } })}
      />
    </>
  );
}
