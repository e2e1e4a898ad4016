import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { accountRoute } from '#ui/shell/routes.ts';

export const welcomeRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/welcome',
  component: lazyRouteComponent(() => import('./page.tsx'), 'WelcomePage'),
});
