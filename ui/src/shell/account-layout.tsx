import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { answerProofsBy } from '#ui/api/call.ts';
import { SessionProvider, sessionQuery } from '#ui/api/session.ts';
import { AskDialog } from './ask-dialog.tsx';

// These parts are loaded when they are first needed.
const SignInAgain = lazy(() => import('./sign-in-again.tsx'));
const ProofQuestion = lazy(() => import('./second-factor/proof-question.tsx'));

/** Shows the pages of a signed-in person. When the session has ended, the sign-in form covers the pages. */
export function AccountLayout() {
  const { data } = useQuery(sessionQuery());
  const [last, setLast] = useState(data);
  const isOver = data === null || (data && last && data.user.id !== last.user.id);
  if (data && data !== last && !isOver) setLast(data);
  if (!last) return null;
  return (
    <SessionProvider value={last}>
      <Outlet />
      <AskDialog />
      <ProofDialog />
      <Suspense fallback={<div className="fixed inset-0 z-60 bg-canvas" />}>
        {isOver && <SignInAgain user={last.user} />}
      </Suspense>
    </SessionProvider>
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
