import { useState } from 'react';
import { useList, useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { toast } from '#ui/api/toast.ts';
import type { Shape } from '#ui/api/types.ts';
import { briefOf, type Group } from './brief.ts';
import { ATTENTION, NEWS } from './reads.ts';

const REFRESH = { everyMs: 15_000 } as const;

/** Reads the unread results that are worth reading, sorted by urgency. */
export function useBrief() {
  const list = useList(...NEWS, REFRESH);
  const attention = useRead(...ATTENTION, REFRESH);
  // Until the list of problems is read, rather show a failure twice than not at all.
  return { list, attention, brief: briefOf(list.data ?? [], attention.data) };
}

/** Marks results as read, and offers to undo that. Single results are hidden at once, and shown again after a refusal. */
export function useMarkRead() {
  const refreshes = ['/v1/results'];
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const back = useSend('post', '/v1/results/unread', { refreshes });
  const mark = useSend('post', '/v1/results/read', { refreshes, showsError: true });
  return {
    isSending: mark.isSending,
    isShown: ([{ runId }]: Group) => !hidden.has(runId),
    read: (body: Shape<'MarkResultsRead'>, undo: Shape<'MarkResultsUnread'>) => {
      const ids = new Set(body.runIds);
      const show = () => setHidden((now) => new Set([...now].filter((id) => !ids.has(id))));
      setHidden((now) => new Set([...now, ...ids]));
      mark.sendAsync({ body }).then(
        () =>
          toast.undo('Marked as read', () => {
            show();
            back.send({ body: undo });
          }),
        (error: Parameters<typeof toast.failed>[0]) => {
          show();
          toast.failed(error);
        },
      );
    },
  };
}
