import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';

export const connectionRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'connections/$connectionId',
  component: lazyRouteComponent(() => import('./page.tsx'), 'ConnectionPage'),
});
