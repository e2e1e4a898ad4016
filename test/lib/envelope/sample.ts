import { randomBytes } from 'node:crypto';
import { envelopeKeys, type RequestToSeal } from '#lib/envelope/index.ts';

export const INSTANCE = 'runtime-1';
export const keys = envelopeKeys(randomBytes(32).toString('base64'));

export function sampleRequest(claims: Partial<RequestToSeal['claims']> = {}): RequestToSeal {
  return {
    claims: {
      issuer: 'ras-api',
      audience: INSTANCE,
      requestId: 'run_1/0/0',
      epoch: 3,
      purpose: 'run',
      provider: 'provider-c',
      fileHash: 'ab'.repeat(32),
      projectId: 'prj_1',
      connectionId: 'mcn_1',
      credentialVersion: 2,
      runId: 'run_1',
      step: 0,
      deadline: Date.now() + 60_000,
      ...claims,
    },
    body: { modelId: 'm', text: 'the prompt' },
    credential: { value: 'sk-secret', account: null },
  };
}
