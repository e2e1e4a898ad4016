import { Suspense, type ReactNode } from 'react';

/** Shows a part whose code loads late; until then its skeleton, which says that it is busy, as it may change height. */
export function Lazily({ skeleton, children }: { skeleton: ReactNode; children: ReactNode }) {
  return <Suspense fallback={<div aria-busy="true">{skeleton}</div>}>{children}</Suspense>;
}
