import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse as parseYaml } from 'yaml';
import { providerFile, type ProviderFile } from './schema.ts';

/** The three connected providers, each with its own kind of sign-in: device code, OAuth, API key. */
export const SLOTS = ['provider-a', 'provider-b', 'provider-c'] as const;

export type ProviderSlot = (typeof SLOTS)[number];

/** The letter of a slot in the names of variables: `MODEL_PROVIDER_<letter>_FILE`. */
export const SLOT_LETTER = { 'provider-a': 'A', 'provider-b': 'B', 'provider-c': 'C' } as const;

export interface LoadedProvider {
  readonly slot: ProviderSlot;
  readonly file: ProviderFile;
  /** SHA-256 of the file's bytes in hex. API and runtime must have the same file. */
  readonly hash: string;
}

/** Lists every error of a provider file as `path: expectation`. */
export class ProviderFileError extends Error {
  override readonly name = 'ProviderFileError';
  readonly faults: readonly string[];

  constructor(variable: string, faults: readonly string[]) {
    super(`${variable}: ${faults.join('; ')}`);
    this.faults = faults;
  }
}

export const AUTH_KIND = {
  'provider-a': 'device_code',
  'provider-b': 'oauth',
  'provider-c': 'api_key',
} as const;

/**
 * Reads the file of one provider.
 * @param bytes the file on disk, from which the hash is made
 * @throws {ProviderFileError} naming every error, a kind of sign-in that belongs to another slot, and terms that forbid
 * the use of the provider
 */
export function readProviderFile(
  slot: ProviderSlot,
  bytes: Uint8Array,
  { termsAccepted }: { readonly termsAccepted: boolean },
): LoadedProvider {
  const variable = `MODEL_PROVIDER_${SLOT_LETTER[slot]}_FILE`;
  const parsed = providerFile.safeParse(readYaml(variable, bytes));
  if (!parsed.success) {
    throw new ProviderFileError(
      variable,
      parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'file'}: ${message}`),
    );
  }
  const faults = refusals(slot, parsed.data, termsAccepted);
  if (faults.length > 0) throw new ProviderFileError(variable, faults);
  return { slot, file: parsed.data, hash: createHash('sha256').update(bytes).digest('hex') };
}

function refusals(slot: ProviderSlot, file: ProviderFile, termsAccepted: boolean): string[] {
  const faults: string[] = [];
  if (file.auth.kind !== AUTH_KIND[slot]) {
    faults.push(`auth.kind: expected ${AUTH_KIND[slot]}, which is how ${slot} signs people in`);
  }
  if (file.api.options.structuredOutputs !== false && file.api.protocol === 'anthropic-messages') {
    const why = 'this protocol takes only a part of JSON Schema, and closes what a schema leaves open';
    faults.push(`api.options.structuredOutputs: ${why}`);
  }
  if (file.terms.thirdPartyUse === 'forbidden') {
    faults.push('terms.thirdPartyUse: the provider forbids this use, so it is not offered');
  }
  if (file.terms.thirdPartyUse === 'by_agreement' && !termsAccepted) {
    const accepted = `MODEL_PROVIDER_${SLOT_LETTER[slot]}_TERMS_ACCEPTED=true`;
    faults.push(`terms.thirdPartyUse: needs an agreement with the provider, and ${accepted}`);
  }
  return faults;
}

function readYaml(variable: string, bytes: Uint8Array): unknown {
  try {
    return parseYaml(new TextDecoder('utf8', { fatal: true }).decode(bytes));
  } catch (error) {
    // The reason may be shown: a YAML error quotes its line, but the file has no secrets.
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw new ProviderFileError(variable, [`file: not readable as YAML (${reason})`]);
  }
}

type Letter = (typeof SLOT_LETTER)[ProviderSlot];

/** The variables of connected providers that API, workers and runtime have in common. */
export type ProviderSettings = Readonly<
  Record<`MODEL_PROVIDER_${Letter}_ENABLED`, boolean> &
    Partial<Record<`MODEL_PROVIDER_${Letter}_FILE`, string | undefined>> &
    Record<`MODEL_PROVIDER_${Letter}_TERMS_ACCEPTED`, boolean>
>;

/** Reads the file of each provider that is enabled here. @throws naming the variable and every error of its file */
export function loadProviderFiles(settings: ProviderSettings): ReadonlyMap<ProviderSlot, LoadedProvider> {
  const loaded = new Map<ProviderSlot, LoadedProvider>();
  for (const slot of SLOTS) {
    const letter = SLOT_LETTER[slot];
    const file = settings[`MODEL_PROVIDER_${letter}_FILE`];
    if (!settings[`MODEL_PROVIDER_${letter}_ENABLED`] || file === undefined) continue;
    const termsAccepted = settings[`MODEL_PROVIDER_${letter}_TERMS_ACCEPTED`];
    loaded.set(slot, readProviderFile(slot, readFileSync(file), { termsAccepted }));
  }
  return loaded;
}
