import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '#ui/shell/routes.ts';

export const invitationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitations',
  component: lazyRouteComponent(() => import('./page.tsx'), 'InvitationsPage'),
});
