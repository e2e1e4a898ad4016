import {
  countsOf,
  createGatewayClient,
  GatewayFailure,
  type AbilityMemory,
  type GatewaySettings,
} from '#core/clients/gateway/index.ts';
import type { AbilityStore } from '#core/models/directory/index.ts';
import { reasonAsMessage } from '#core/execution/run-states/index.ts';
import { storedResponse, type ModelCaller } from './model-call.ts';
import { ModelFailure } from './stop.ts';

/** Calls models of the operator's sources. Lessons from their servers are stored for the organization of the call. */
export function createModelCaller(settings: GatewaySettings & { readonly abilities: AbilityStore }): ModelCaller {
  const { abilities } = settings;
  const client = createGatewayClient(settings);
  return {
    timeoutMs: settings.timeoutMs,
    async call(input) {
      const { served, organizationId } = input;
      if (served === null) throw new Error('a model of an account is called by its runtime');
      try {
        const memory: AbilityMemory = {
          known: () => abilities.of(served, organizationId),
          learn: (learned) => abilities.learn(served, organizationId, learned),
          forget: (learned) => abilities.forget(served, organizationId, learned),
        };
        return storedResponse(await client.call(served, input, memory));
      } catch (error) {
        throw error instanceof GatewayFailure ? toModelFailure(error) : error;
      }
    },
    close: () => client.close(),
  };
}

export function toModelFailure({ kind, message, details: { stated, ...details } }: GatewayFailure): ModelFailure {
  const reason = kind === 'context_exceeded' ? kind : (`model_${kind}` as const);
  const words = reason === 'model_account_empty' ? reasonAsMessage(reason) : message;
  return new ModelFailure(reason, words, { ...details, ...(stated === undefined ? {} : { usage: countsOf(stated) }) });
}
