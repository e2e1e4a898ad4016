import { useQuery } from '@tanstack/react-query';
import { Outlet, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { sessionQuery } from '#ui/api/session.ts';
import { ProofDialog } from './second-factor/proof-dialog.tsx';

/** Leads to the sign-in page once the session has ended, and from there back to this page. */
export function AccountLayout() {
  const router = useRouter();
  const { data } = useQuery(sessionQuery());
  const isOver = data === null;
  useEffect(() => {
    // The address of this page is read once: it changes while the other one is on its way.
    if (!isOver) return;
    void router.navigate({ to: '/sign-in', search: { to: router.state.location.href } });
  }, [isOver, router]);
  if (isOver) return null;
  return (
    <>
      <Outlet />
      <ProofDialog />
    </>
  );
}
