import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const billingRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'billing',
  validateSearch: searchOf('checkout'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'BillingPage'),
});
