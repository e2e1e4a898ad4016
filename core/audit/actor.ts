/** The author of a change, and the address it came from. */
export interface Actor {
  readonly kind: 'person' | 'key' | 'system';
  /** The id of the person or of the API key; null for the service itself. */
  readonly id: string | null;
  /** The address of the caller; null where nobody called. */
  readonly address: string | null;
}

/** The service itself, for changes that nobody asked for. */
export const SYSTEM: Actor = { kind: 'system', id: null, address: null };
