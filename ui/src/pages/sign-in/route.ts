import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: searchOf('to', 'email', 'notice'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SignInPage'),
});
