import { useQuery } from '@tanstack/react-query';
import { Outlet, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { answerProofsBy } from '#ui/api/call.ts';
import { sessionQuery } from '#ui/api/session.ts';

// Loaded when it is first asked.
const ProofQuestion = lazy(() => import('./second-factor/proof-question.tsx'));

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

/** Asks for the password or a code when the API wants the person to prove who they are. */
function ProofDialog() {
  const [isAsked, setAsked] = useState(false);
  const resolve = useRef<(proven: boolean) => void>(undefined);
  useEffect(
    () =>
      answerProofsBy(
        () =>
          new Promise((resolved) => {
            resolve.current = resolved;
            setAsked(true);
          }),
      ),
    [],
  );
  const end = (proven: boolean) => {
    setAsked(false);
    resolve.current?.(proven);
  };
  return <Suspense>{isAsked && <ProofQuestion onEnd={end} />}</Suspense>;
}
