import { Toast } from '@base-ui/react/toast';
import type { ApiError } from './error.ts';

/** Holds the toasts until the page shows them. */
export const toasts = Toast.createToastManager();

/** Shows a message in the corner. Errors stay until they are closed. */
export const toast = {
  done: (title: string) => toasts.add({ title, type: 'done' }),
  /** Says what has happened, with a button that takes it back while it stands there. */
  undo: (title: string, onUndo: () => void) => {
    const id = toasts.add({
      title,
      type: 'done',
      timeout: 10_000,
      actionProps: {
        children: 'Undo',
        onClick: () => {
          onUndo();
          toasts.close(id);
        },
      },
    });
  },
  failed: (error: Pick<ApiError, 'message' | 'requestId'>) =>
    toasts.add({
      title: error.message,
      description: error.requestId === undefined ? undefined : `Request ${error.requestId}`,
      type: 'failed',
      timeout: 0,
    }),
};
