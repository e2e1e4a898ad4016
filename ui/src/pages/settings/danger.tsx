import type { ReactNode } from 'react';

export interface DangerProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly action: ReactNode;
}

/** Shows a row for an action that cannot be undone. */
export function Danger({ title, children, action }: DangerProps) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 rounded-lg border border-line bg-surface p-4">
      <div className="min-w-0 grow basis-72">
        <p className="text-base font-medium text-ink">{title}</p>
        <p className="mt-0.5 max-w-xl text-sm text-muted">{children}</p>
      </div>
      {action}
    </div>
  );
}
