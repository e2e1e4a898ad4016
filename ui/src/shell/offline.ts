import { lazyRouteComponent } from '@tanstack/react-router';
import { toasts } from '#ui/api/toast.ts';

/** Tells the reader, while the browser is offline, that pages and changes wait. */
export function watchConnection(): void {
  let shown: string | undefined;
  addEventListener('offline', () => {
    shown ??= toasts.add({
      title: 'You are offline',
      description: 'Pages are read and changes are sent once you are online again.',
      type: 'failed',
      timeout: 0,
    });
  });
  addEventListener('online', () => {
    if (shown !== undefined) toasts.close(shown);
    shown = undefined;
  });
}

/**
 * Loads the code of a page when it is first opened, and waits while the browser is offline. The router itself would
 * load the whole document again, which fails offline.
 */
export function lazyPage<Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(
    () =>
      load().catch(async (error: unknown) => {
        if (navigator.onLine) throw error;
        await new Promise((resolve) => {
          addEventListener('online', resolve, { once: true });
        });
        return load();
      }),
    name,
  );
}
