import { createHash } from 'node:crypto';
import { canonicalJson, parseJson, valueAt } from '#lib/json.ts';
import type { GateCall, GateFailure } from './decide.ts';

export interface GateResponse {
  readonly call: GateCall;
  readonly outcome:
    | {
        readonly kind: 'body';
        readonly text: string;
        readonly etag: string | null;
      }
    /** Status 304 (RFC 9110, section 15.4.5): the value behind the entity tag is unchanged. */
    | { readonly kind: 'not_modified' }
    | GateFault;
}

export interface GateFault {
  readonly kind: 'failed';
  readonly reason: GateFailure;
  /** Error message in the service's own words. */
  readonly error: string;
}

export function gateFailed(reason: GateFailure, error: string): GateFault {
  return { kind: 'failed', reason, error };
}

/** Limits of a gate's value, in bytes of a body and in characters of a tool's result. */
export const MAX_GATE_BODY = 64 * 1_024;

export const TOO_LARGE = gateFailed('too_large', `The response has more than ${MAX_GATE_BODY} bytes.`);

/** The longest time for a gate, so that the rest of the run has enough time. */
export const GATE_TIMEOUT_MS = 30_000;

export const TOO_SLOW = gateFailed(
  'too_slow',
  `There was no whole response within ${GATE_TIMEOUT_MS / 1_000} seconds.`,
);

/** The value that a gate watches, taken from a response. */
export interface GateValue {
  readonly kind: 'value';
  readonly text: string;
  /** SHA-256 of the value in hexadecimal, independent of the order of keys. */
  readonly hash: string;
  readonly isEmpty: boolean;
}

/**
 * Extracts the values of the pointers from a response: the value itself for a single pointer, an object of values for
 * several pointers, the whole response without pointers. A response that is not JSON is a text, which can only be taken
 * as a whole.
 */
export function readValue(text: string, pointers: readonly string[]): GateValue | GateFault {
  const json = parseJson(text);
  if (json === undefined) {
    if (pointers.length > 0) return gateFailed('not_json', 'The response is not JSON.');
    return valueOf(text, [text]);
  }
  if (pointers.length === 0) return valueOf(json, [json]);
  const values = pointers.map((pointer) => valueAt(json, pointer));
  const missing = pointers.find((_, index) => values[index] === undefined);
  if (missing !== undefined) {
    const error = `The pointer ${JSON.stringify(missing)} finds nothing in the response.`;
    return gateFailed('pointer_missing', error);
  }
  if (values.length === 1) return valueOf(values[0], values);
  return valueOf(Object.fromEntries(pointers.map((each, index) => [each, values[index]])), values);
}

function valueOf(value: unknown, parts: readonly unknown[]): GateValue | GateFault {
  let canonical;
  try {
    canonical = canonicalJson(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return gateFailed('not_json', 'The response is nested too deeply.');
  }
  return {
    kind: 'value',
    text: typeof value === 'string' ? value : canonical,
    hash: createHash('sha256').update(canonical).digest('hex'),
    isEmpty: parts.every(isEmpty),
  };
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === false || value === 0) return true;
  if (typeof value === 'string') return value.trim() === '';
  return typeof value === 'object' && Object.keys(value).length === 0;
}
