import { GatewayError } from './http.ts';
import type { Behaviour } from './script.ts';

/** Failures that a line `FAIL <name>` in the instructions provokes, to see how the service reports a failed run. */
const FAILURES: Readonly<Record<string, Behaviour>> = {
  refused: { kind: 'error', status: 400, message: 'This gateway refuses this request, as it was told to.' },
  denied: { kind: 'error', status: 403, message: 'This gateway denies this key, as it was told to.' },
  busy: { kind: 'error', status: 429, message: 'This gateway is busy, as it was told to be.' },
  unavailable: { kind: 'error', status: 503, message: 'This gateway is away, as it was told to be.' },
  cut: { kind: 'reset' },
  malformed: { kind: 'malformed-json' },
  empty: { kind: 'text', text: '', finishReason: 'stop' },
};

/**
 * Returns the failure that a prompt names.
 * @throws {GatewayError} for an unknown name
 */
export function failureIn(prompt: string): Behaviour | undefined {
  const [, name] = /^FAIL ([a-z-]+)$/m.exec(prompt) ?? [];
  if (name === undefined) return undefined;
  const failure = Object.hasOwn(FAILURES, name) ? FAILURES[name] : undefined;
  if (failure !== undefined) return failure;
  throw GatewayError.of(400, `There is no failure "${name}": it is one of ${Object.keys(FAILURES).join(', ')}.`);
}
