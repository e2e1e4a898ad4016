import { Toast } from '@base-ui/react/toast';
import type { ApiError } from './error.ts';

/** Holds the toasts until the page shows them. */
export const toasts = Toast.createToastManager();

/** Shows a message in the corner. Errors stay until they are closed. */
export const toast = {
  done: (title: string) => toasts.add({ title, type: 'done' }),
  /** Reports an action, with a button that undoes it while the toast is shown. */
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
