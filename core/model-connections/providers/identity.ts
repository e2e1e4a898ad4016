import { createHash } from 'node:crypto';
import type { ProviderFile } from '#lib/provider-file/index.ts';

/**
 * Hashes who a provider is: where its tokens come from and where they are sent. An account that was connected under
 * another identity is not used, as its credential would go to a host that it was not meant for. Paths may change.
 */
export function providerIdentity({ auth, api, verify }: ProviderFile): string {
  const issuer = auth.kind === 'api_key' ? null : (auth.issuer ?? originOf(auth.tokenEndpoint));
  const hosts = [auth.kind, issuer, originOf(api.baseUrl)];
  const prover = originOf(verify.baseUrl);
  const isFurther =
    prover !== null && prover !== originOf(issuer ?? undefined) && !hosts.includes(prover);
  return createHash('sha256')
    .update(JSON.stringify(isFurther ? [...hosts, prover] : hosts))
    .digest('hex');
}

function originOf(url: string | undefined): string | null {
  return url === undefined ? null : new URL(url).origin;
}
