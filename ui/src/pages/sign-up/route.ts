import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const signUpRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-up',
  validateSearch: searchOf('to'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SignUpPage'),
});
