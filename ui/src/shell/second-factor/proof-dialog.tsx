import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { answerProofsBy } from '#ui/api/proof.ts';

const ProofQuestion = lazy(() => import('./proof-question.tsx'));

/** Asks for the password or a code when the API wants the person to prove who they are. */
export function ProofDialog() {
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
