import { useQuery } from '@tanstack/react-query';
import { Navigate, Outlet, useRouterState } from '@tanstack/react-router';
import { sessionQuery } from '#ui/api/session.ts';

/** Leads to the sign-in page once the session has ended, and from there back to this page. */
export function AccountLayout() {
  const { data } = useQuery(sessionQuery());
  const href = useRouterState({ select: ({ location }) => location.href });
  if (data === null) return <Navigate to="/sign-in" search={{ to: href }} />;
  return <Outlet />;
}
