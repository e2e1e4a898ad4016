import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '#ui/shell/routes.ts';

export const resetPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./page.tsx'), 'ResetPasswordPage'),
});
