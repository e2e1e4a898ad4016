import { CircleAlert, CircleCheck, Info, LoaderCircle, Lock, TriangleAlert, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ApiError } from '#ui/api/error.ts';
import type { Loaded } from '#ui/api/read.ts';
import { Button } from './button.tsx';
import { cx } from './cx.ts';

export interface EmptyStateProps {
  readonly icon?: LucideIcon;
  /** The empty state in a few words: "No routines yet". */
  readonly title: string;
  /** Reason why the list is empty, or the use of its entries. */
  readonly children?: ReactNode;
  /** Button or link of the next step. */
  readonly action?: ReactNode;
}

/** Shows that a list is empty, once that is known. */
export function EmptyState({ icon: Icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center rounded-lg border border-dashed border-edge px-6 py-12 text-center">
      {Icon !== undefined && <Icon aria-hidden className="mb-3 size-5 text-faint" strokeWidth={1.75} />}
      <p className="text-base font-medium text-ink">{title}</p>
      {children !== undefined && <div className="mt-1 max-w-md text-base text-muted">{children}</div>}
      {action !== undefined && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

export interface ErrorStateProps {
  readonly error: ApiError;
  readonly onRetry?: (() => void) | undefined;
  /** Names what failed: "The runs could not be read". */
  readonly title?: string;
}

/** Shows an error with its request id, by which the operator finds it. */
export function ErrorState({ error, onRetry, title }: ErrorStateProps) {
  const isForbidden = error.status === 403;
  const Icon = isForbidden ? Lock : CircleAlert;
  return (
    <div
      role="alert"
      // Drop the frame inside of a box, which already has one.
      className="flex flex-col items-center rounded-lg border border-line px-6 py-12 text-center in-data-box:border-0 in-data-box:px-0 in-data-box:py-2"
    >
      <Icon aria-hidden className={cx('mb-3 size-5', isForbidden ? 'text-faint' : 'text-bad')} strokeWidth={1.75} />
      <p className="text-base font-medium text-ink">{title ?? headline(error)}</p>
      <p className="mt-1 max-w-md text-base text-muted">{error.message}</p>
      {error.requestId !== undefined && <p className="mt-2 font-mono text-xs text-faint">Request {error.requestId}</p>}
      {onRetry !== undefined && !isForbidden && (
        <Button className="mt-4" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

function headline({ status }: ApiError): string {
  if (status === 403) return 'Not for your role';
  if (status === 404) return 'Not found';
  return status === 0 ? 'No connection' : 'The action failed';
}

export interface AwaitProps<D> {
  /** A read, or a value made from its data. Do not spread a read: the page would be drawn again at each refresh. */
  readonly of: Pick<Loaded<D>, 'data' | 'error' | 'refetch'>;
  /** Header above the skeleton and above an error, for a page whose own header needs the data. */
  readonly header?: ReactNode;
  /** Skeleton in the shape of the content. */
  readonly skeleton: ReactNode;
  readonly children: (data: D) => ReactNode;
  readonly errorTitle?: string;
}

/** Shows a skeleton, then the data or the error. Older data stays during a refresh. */
export function Await<D>({ of, header, skeleton, children, errorTitle }: AwaitProps<D>) {
  if (of.data !== undefined) {
    return (
      <>
        {of.error !== null && <Stale error={of.error} onRetry={of.refetch} />}
        {children(of.data)}
      </>
    );
  }
  if (of.error !== null) {
    return (
      <>
        {header}
        <ErrorState
          error={of.error}
          onRetry={of.refetch}
          {...(errorTitle === undefined ? {} : { title: errorTitle })}
        />
      </>
    );
  }
  return (
    <div aria-busy="true">
      <span className="sr-only" role="status">
        Loading
      </span>
      {header}
      {skeleton}
    </div>
  );
}

function Stale({ error, onRetry }: { error: ApiError; onRetry: () => void }) {
  return (
    <Notice tone="warn" className="mb-4">
      <span className="grow">
        This may be out of date: {error.message}
        {error.requestId !== undefined && (
          <span className="block font-mono text-xs text-faint">Request {error.requestId}</span>
        )}
      </span>
      <Button size="sm" onClick={onRetry}>
        Try again
      </Button>
    </Notice>
  );
}

export interface NoticeProps {
  readonly tone?: 'info' | 'good' | 'warn' | 'bad';
  /** True while a response is awaited. */
  readonly busy?: boolean;
  readonly children: ReactNode;
  readonly className?: string;
}

const NOTICES = {
  info: [Info, 'text-muted'],
  good: [CircleCheck, 'text-good-ink'],
  warn: [TriangleAlert, 'text-warn-ink'],
  bad: [CircleAlert, 'text-bad-ink'],
} as const;

/** Shows one thing to know on this page. */
export function Notice({ tone = 'info', busy = false, children, className }: NoticeProps) {
  const [Icon, colour] = busy ? [LoaderCircle, 'text-muted animate-spin'] : NOTICES[tone];
  return (
    <div
      className={cx(
        'flex items-start gap-2.5 rounded-lg border border-line bg-surface px-3.5 py-2.5 text-base text-ink',
        className,
      )}
    >
      <Icon aria-hidden className={cx('mt-0.5 size-4 shrink-0', colour)} strokeWidth={1.75} />
      <div className="flex min-w-0 grow flex-wrap items-center gap-x-3 gap-y-1">{children}</div>
    </div>
  );
}
