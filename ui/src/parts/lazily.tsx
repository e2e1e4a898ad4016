import { lazy, Suspense, type ReactNode } from 'react';
import type { BarsProps } from './bars.tsx';
import type { MarkdownProps } from './markdown.tsx';
import { Skeleton, SkeletonText } from './skeleton.tsx';
import type { TextDiffProps } from './text-diff.tsx';
import type { WebhookSecretProps } from './webhook-secret.tsx';

/** Shows a part whose code loads late. Until then a skeleton is marked as busy, because its height may change. */
export function Lazily({ skeleton, children }: { skeleton: ReactNode; children: ReactNode }) {
  return <Suspense fallback={<div aria-busy="true">{skeleton}</div>}>{children}</Suspense>;
}

const Markdown = lazy(() => import('./markdown.tsx'));

/** Shows Markdown. Loads the code for it at the first use. */
export function RichText(props: MarkdownProps) {
  return (
    <Lazily skeleton={<SkeletonText lines={4} />}>
      <Markdown {...props} />
    </Lazily>
  );
}

const Bars = lazy(() => import('./bars.tsx'));

/** Shows bars; loads their library when a chart is first shown. */
export function BarChart(props: BarsProps) {
  return (
    <Lazily skeleton={<Skeleton className="h-44 w-full" />}>
      <Bars {...props} />
    </Lazily>
  );
}

const Diff = lazy(() => import('./text-diff.tsx'));

/** Shows how a text changed. Loads the code for it when there is something to compare. */
export function TextDiff(props: TextDiffProps) {
  return (
    <Lazily skeleton={<SkeletonText lines={4} />}>
      <Diff {...props} />
    </Lazily>
  );
}

const WebhookSecretDialog = lazy(() => import('./webhook-secret.tsx'));

/** Shows the secret of a webhook once. The code loads earlier, with the page that may make a secret. */
export function WebhookSecret(props: WebhookSecretProps) {
  return (
    <Suspense>
      <WebhookSecretDialog {...props} />
    </Suspense>
  );
}
