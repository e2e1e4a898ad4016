import { lazy, Suspense } from 'react';
import { SkeletonText } from './skeleton.tsx';

const Markdown = lazy(() => import('./markdown.tsx'));

/** Shows Markdown; loads its parser when it is first needed, and is busy until the text stands where it will stay. */
export function RichText({ text }: { readonly text: string }) {
  return (
    <Suspense
      fallback={
        <div aria-busy="true">
          <SkeletonText lines={4} />
        </div>
      }
    >
      <Markdown text={text} />
    </Suspense>
  );
}
