import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const settingsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'settings',
  // `action`, `project` and `person` are the filters of the audit log.
  validateSearch: searchOf('tab', 'action', 'project', 'person'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SettingsPage'),
});
