import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { SESSION_KEY } from '#ui/api/session.ts';

/** Leads from a sign-in back to the page that asked for it, if that is a page of the dashboard. */
export function useEnter(): (to: string | undefined) => Promise<void> {
  const client = useQueryClient();
  const router = useRouter();
  return async (to) => {
    client.clear();
    await client.invalidateQueries({ queryKey: SESSION_KEY });
    await router.navigate({ href: ownPath(to) ?? '/' });
  };
}

/** Returns a path of this origin, else undefined: a link to the sign-in page must not lead to another site. */
function ownPath(to: string | undefined): string | undefined {
  if (to === undefined || !to.startsWith('/') || to.startsWith('//') || to.includes('\\')) {
    return undefined;
  }
  return new URL(to, location.origin).origin === location.origin ? to : undefined;
}
