import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';

export const apiKeysRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'api-keys',
  component: lazyRouteComponent(() => import('./page.tsx'), 'ApiKeysPage'),
});
