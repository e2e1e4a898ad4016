import { call } from './call.ts';
import type { InputOf } from './types.ts';

type Assertion = InputOf<'/auth/sign-in/passkey', 'post'>['body']['passkey'];
type NewPasskey = InputOf<'/auth/passkeys/add', 'post'>['body']['passkey'];

/** Tells whether this browser supports passkeys in JSON. */
export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential !== 'undefined' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;
}

/** Lets the browser make a passkey and adds it. Resolves with false when the person cancels. */
export async function addPasskey(name: string): Promise<boolean> {
  const { data } = await call('post', '/auth/passkeys/begin', { body: {} });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the API sends options as the browser reads them
  const options = data as unknown as PublicKeyCredentialCreationOptionsJSON;
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const passkey = await unlessGivenUp(navigator.credentials.create({ publicKey }));
  if (passkey === undefined) return false;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape that the specification gives it
  const body = { name, passkey: passkey as NewPasskey };
  await call('post', '/auth/passkeys/add', { body });
  return true;
}

/** Lets the person choose a passkey and use it. Resolves with undefined when they cancel. */
export async function askForPasskey(): Promise<Assertion | undefined> {
  const { data } = await call('post', '/auth/sign-in/passkey/begin', { body: {} });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the API sends options as the browser reads them
  const options = data as unknown as PublicKeyCredentialRequestOptionsJSON;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape that the specification gives it
  return (await unlessGivenUp(navigator.credentials.get({ publicKey }))) as Assertion | undefined;
}

async function unlessGivenUp(asked: Promise<Credential | null>): Promise<unknown> {
  try {
    const credential = await asked;
    return credential instanceof PublicKeyCredential ? credential.toJSON() : undefined;
  } catch (error) {
    // Cancelled by the person, out of time, or the device already has the passkey.
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}
