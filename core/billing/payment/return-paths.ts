/** Pages of the dashboard from which a checkout can be begun, and to which it returns. */
const RETURN_PATHS: Readonly<Record<string, string>> = {
  billing: '/settings/billing',
  pricing: '/pricing',
  routines: '/routines',
  runs: '/runs',
};

/**
 * Returns the addresses to which the processor's pages lead back. The entry point is only looked up: it never becomes
 * part of an address, and an unknown one leads to the billing page.
 */
export function returnAddresses(uiOrigin: string, entrypoint: string) {
  const path = Object.hasOwn(RETURN_PATHS, entrypoint) ? RETURN_PATHS[entrypoint] : undefined;
  const back = `${uiOrigin}${path ?? RETURN_PATHS['billing']}`;
  return { success: `${back}?checkout=done`, cancel: `${back}?checkout=cancelled`, back };
}
