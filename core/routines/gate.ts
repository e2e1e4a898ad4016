import type { JsonObject } from '#lib/json.ts';

export const WAKE_ON = ['changed', 'not_empty'] as const;

/** The source that a scheduled run looks at before it wakes its model. One of `tool` and `url` is null. */
export interface Gate {
  /** A confirmed tool of the routine that only reads, and the arguments to call it with. */
  readonly tool: { readonly policyId: string; readonly arguments: JsonObject } | null;
  readonly url: string | null;
  /** JSON Pointers to what matters in the response; none for the whole of it. */
  readonly pointers: readonly string[];
  readonly wakeOn: (typeof WAKE_ON)[number];
  /** Hours without a woken model after which the next run wakes it in any case. */
  readonly maxQuietHours: number | null;
}
