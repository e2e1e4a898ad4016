import {
  countsOf,
  createGatewayClient,
  GatewayFailure,
  type AbilityMemory,
  type GatewayCall,
  type GatewayResponse,
  type GatewaySettings,
  type ServedModel,
} from '#core/clients/gateway/index.ts';
import type { Core } from '#core/core.ts';
import type { Admission } from '#core/execution/admission/index.ts';
import type { SkillCatalogue } from '#core/authoring/skills/index.ts';
import type { IssuedCall } from '#core/models/calls/index.ts';
import type { LiveTexts } from '#core/execution/run-events/index.ts';
import type { ModelConnectionRef } from '#core/models/connections/index.ts';
import type { AbilityStore, ProjectModels } from '#core/models/directory/index.ts';
import type { ModelProviders } from '#core/models/providers/index.ts';
import { reasonAsMessage } from '#core/execution/run-states/index.ts';
import type { OfferedTool, ToolCallDeps } from '#core/integrations/tools/index.ts';
import { storable, storableJson } from '#lib/database/index.ts';
import { parseExact } from '#lib/exact-json/parse.ts';
import { ModelFailure } from './stop.ts';

/** The core with the parts of other subjects that steps use. */
export interface StepsCore extends Core, ToolCallDeps {
  readonly admission: Admission;
  readonly caller: ModelCaller;
  readonly liveTexts: LiveTexts;
  readonly modelProviders: ModelProviders;
  readonly models: ProjectModels;
  readonly skills: SkillCatalogue;
}

export interface ModelResponse extends GatewayResponse {
  /**
   * The call on a model account that produced this response, recorded together with it; undefined if a gateway
   * responded.
   */
  readonly call?: IssuedCall;
}

export interface ModelCall extends GatewayCall {
  /** The organization of the call; lessons from its refusals apply to this organization alone. */
  readonly organizationId: string;
  readonly modelId: string;
  /** The model at its server; null on an account. */
  readonly served: ServedModel | null;
  /** The account of the call, and its step; undefined at the gateway. */
  readonly account?: AccountStep | undefined;
}

export interface ModelCaller {
  /** Longest duration of a call, after which it is aborted. */
  readonly timeoutMs: number;
  /** @throws {ModelFailure}, {Stop} if an account cannot take the call, or the signal's reason when it was aborted */
  call(input: ModelCall): Promise<ModelResponse>;
  close(): Promise<void>;
}

/** The model step that makes a call on an account. */
export interface AccountStep {
  readonly provider: string;
  readonly connection: ModelConnectionRef;
  readonly runId: string;
  readonly index: number;
  readonly tools: readonly OfferedTool[];
  /** Milliseconds that the run has left. */
  readonly remainingMs: number;
}

export function chooseCaller(callers: { readonly gateway: ModelCaller; readonly accounts: ModelCaller }): ModelCaller {
  const { gateway, accounts } = callers;
  return {
    timeoutMs: Math.max(gateway.timeoutMs, accounts.timeoutMs),
    call: (input) => (input.account === undefined ? gateway : accounts).call(input),
    async close() {
      await Promise.all([gateway.close(), accounts.close()]);
    },
  };
}

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

/** Returns a response in its stored form, so that a step works with exactly the recorded values. */
export function storedResponse(response: ModelResponse): ModelResponse {
  const { text, messages, toolCalls } = response;
  return {
    ...response,
    text: storable(text),
    messages: asStored(messages),
    toolCalls: toolCalls.map((each) => ({ ...each, input: asStored(each.input) })),
  };
}

function asStored<T>(value: T): T {
  if (value === undefined) return value;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- messages and arguments came out of JSON, so they go through it unchanged
  return parseExact(storableJson(value)) as T;
}
