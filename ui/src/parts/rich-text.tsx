import { lazy } from 'react';
import { Lazily } from './lazily.tsx';
import { SkeletonText } from './skeleton.tsx';

const Markdown = lazy(() => import('./markdown.tsx'));

/** Shows Markdown; loads its parser when it is first needed. */
export function RichText({ text }: { readonly text: string }) {
  return (
    <Lazily skeleton={<SkeletonText lines={4} />}>
      <Markdown text={text} />
    </Lazily>
  );
}
