import { AppError } from '#lib/errors.ts';

/** The parameters that a provider sent a person back with (RFC 6749, section 4.1.2; RFC 9207). */
export interface ReturnedParameters {
  readonly state: string;
  readonly code: string | undefined;
  readonly error: string | undefined;
  readonly iss: string | undefined;
  /** Client that the provider has issued for this key; undefined where it issues none. */
  readonly clientId: string | undefined;
}

const MAX = { state: 200, code: 4_096, error: 200, iss: 2_048, client_id: 500 } as const;

/**
 * Reads the parameters out of the address at which a sign-in ended, as a person has copied it.
 * @throws {AppError} `invalid_request`
 */
export function readReturnedAddress(address: string): ReturnedParameters {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    throw new AppError('invalid_request', 'address: copy the whole address, with https://');
  }
  const { searchParams } = new URL(address);
  const read = (name: keyof typeof MAX) => {
    const value = searchParams.get(name);
    if (value === null || value === '') return undefined;
    if (value.length > MAX[name]) {
      throw new AppError('invalid_request', `address: ${name} is too long`);
    }
    return value;
  };
  const state = read('state');
  if (state === undefined) {
    throw new AppError('invalid_request', 'address: has no state; copy the whole address');
  }
  return {
    state,
    code: read('code'),
    error: read('error'),
    iss: read('iss'),
    clientId: read('client_id'),
  };
}
