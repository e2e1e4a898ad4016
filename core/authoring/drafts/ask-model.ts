import { countInput, type GatewayCall, type GatewayResponse, type ServedModel } from '#core/clients/gateway/index.ts';
import type { Core } from '#core/core.ts';
import { assertWithinLimit, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { spendBesideRuns, type SpentBesideRuns } from '#core/usage/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Found } from './look-up.ts';
import { draftRequest, readDraft, type DraftedFields, type OwnLists } from './response.ts';
import { bestMatches, contentWords } from './words.ts';

export interface AskDeps extends Pick<Core, 'database' | 'log' | 'metrics' | 'maxCostUsdPerOrganization'> {
  readonly caller: {
    call(
      input: GatewayCall & Pick<Where, 'organizationId'> & { readonly modelId: string; readonly served: ServedModel },
    ): Promise<GatewayResponse>;
  };
}

export interface Where {
  readonly projectId: string;
  readonly organizationId: string;
}

const DRAFTS: ThrottleRule = { name: 'draft', limit: 60, windowSeconds: 60 * 60 };
const ATTEMPTS = 2;
/** The most output tokens of one attempt, reasoning included. */
const MAX_OUTPUT = 4_000;
/** The longest time of one attempt, so that two attempts end before clients give up after 60 s. */
const ATTEMPT_MS = 25_000;

export interface ModelDraft {
  readonly drafted: DraftedFields | undefined;
  /** The usage of the model; null if no model was asked. */
  readonly spent: Omit<SpentBesideRuns<unknown>, 'value'> | null;
}

/** Asks a model for a draft, and once more if its response is refused. Returns undefined if both attempts fail. */
export async function askModel(
  deps: AskDeps,
  where: Where,
  { sentence, found }: { readonly sentence: string; readonly found: Found },
): Promise<ModelDraft> {
  const { drafter, lists: all } = found;
  const lists = { ...all, skills: shortened(sentence, all.skills) };
  const first = draftRequest(sentence, lists);
  const inputTokens = countInput(first);
  if (drafter === undefined || (drafter.contextTokens ?? Infinity) < inputTokens + MAX_OUTPUT) return NOT_ASKED;
  await assertWithinLimit(
    deps.database,
    DRAFTS,
    where.organizationId,
    `The organization has made ${DRAFTS.limit} drafts in this hour, the most allowed.`,
  );
  const { modelId, served, prices, abilities, contextTokens } = drafter;
  const most = { inputTokens: (inputTokens + REFUSAL_TOKENS) * ATTEMPTS, outputTokens: MAX_OUTPUT * ATTEMPTS };
  const charge = { ...where, modelId, purpose: 'drafts' } as const;
  const { value, ...spent } = await spendBesideRuns(deps, charge, { prices, most }, async (used) => {
    let refused: string | undefined;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const request = attempt === 1 ? first : draftRequest(sentence, lists, refused);
      const call = { ...request, modelId, served, abilities, contextTokens, maxOutputTokens: MAX_OUTPUT };
      const signal = AbortSignal.timeout(ATTEMPT_MS);
      try {
        const { text, usage } = await deps.caller.call({ ...call, signal, organizationId: where.organizationId });
        used(usage);
        const read = readDraft(text, sentence, lists);
        if (typeof read !== 'string') return read;
        refused = read.slice(0, 500);
      } catch (err) {
        if (err instanceof AppError) throw err;
        // The server may have received the input and may bill this attempt: count the most that the attempt can use.
        if (signal.aborted) used({ ...spentAtMost, inputTokens });
        deps.log.info({ err, modelId }, 'a model drafted no routine');
        return undefined;
      }
    }
    return undefined;
  });
  return { drafted: value, spent };
}

const NOT_ASKED: ModelDraft = { drafted: undefined, spent: null };
const REFUSAL_TOKENS = 300;
const spentAtMost = { cachedInputTokens: 0, outputTokens: MAX_OUTPUT, reasoningTokens: 0, estimated: true };

/** Removes all descriptions except those of the ten best fitting skills, so that a small model can read the list. */
function shortened(sentence: string, skills: OwnLists['skills']): OwnLists['skills'] {
  const best = new Set(bestMatches(contentWords(sentence), skills, (each) => each).slice(0, 10));
  return skills.map((each) => (best.has(each) ? each : { ...each, description: '' }));
}
