const KEY = 'billingVisit';

/** Leaves for a page of the payment processor. */
export function visitProcessor(address: string): void {
  sessionStorage.setItem(KEY, 'away');
  location.assign(address);
}

/** Tells, once, whether this tab has been away on a page of the payment processor. */
export function takeVisit(): boolean {
  const kept = sessionStorage.getItem(KEY) !== null;
  sessionStorage.removeItem(KEY);
  return kept;
}
