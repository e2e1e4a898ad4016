// oxlint-disable-next-line import/no-unassigned-import -- a polyfill, without which @peculiar/x509 does not load
import 'reflect-metadata';
import { isIP } from 'node:net';
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;
/** Validity of the certificates. Nothing renews them automatically, so both live long; one command makes a new pair. */
const YEARS = 2;

export interface IssuedCertificates {
  /** Certificate of the authority, for `MODEL_RUNTIME_CA_FILE` of API and workers. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/**
 * Makes an authority for one runtime and a certificate for its hosts. The authority's key is discarded: it signs
 * nothing else, and a new certificate needs a new authority.
 * @param hosts names and addresses under which API and workers reach the runtime
 */
export async function issueCertificates(hosts: readonly string[], now = new Date()): Promise<IssuedCertificates> {
  const validity = {
    notBefore: new Date(now.getTime() - DAY_MS),
    notAfter: new Date(now.getTime() + YEARS * 365 * DAY_MS),
  };
  const authorityKeys = await makeKeys();
  const authority = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=Provider runtime authority',
    keys: authorityKeys,
    signingAlgorithm: ALGORITHM,
    ...validity,
    extensions: [new BasicConstraintsExtension(true, 0, true), new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true)],
  });
  const keys = await makeKeys();
  const certificate = await X509CertificateGenerator.create({
    subject: 'CN=Provider runtime',
    issuer: authority.subject,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    ...validity,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(
        hosts.map((host) => ({ type: isIP(host) === 0 ? 'dns' : 'ip', value: host })),
      ),
    ],
  });
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    ca: authority.toString('pem'),
    cert: certificate.toString('pem'),
    key: PemConverter.encode(pkcs8, 'PRIVATE KEY'),
  };
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}
