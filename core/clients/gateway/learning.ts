import type { ModelAbilities } from './abilities.ts';
import type { GatewayCall } from './call.ts';
import type { Refusal } from './refusal.ts';

/** Keeps lessons about a model's server for later calls. */
export interface AbilityMemory {
  known(): ModelAbilities;
  learn(learned: ModelAbilities): Promise<void>;
  /** Forgets abilities that a request did not need. */
  forget(learned: ModelAbilities): Promise<void>;
}

/** The most repetitions of one call's request because of refused fields. */
const MAX_LESSONS = 5;

export interface Learning {
  /** Returns the call with the lessons so far. */
  call(): GatewayCall;
  /** Learns from a refusal. @returns whether the request is worth repeating */
  learn(refusal: Refusal | undefined): boolean;
  /**
   * Remembers the lessons of this call after a request that follows them was accepted. Forgets earlier lessons that the
   * request did not need.
   */
  keep(outputTokens: number): Promise<void>;
}

/**
 * Starts to learn in a call. A lesson applies to the requests of this call, and is remembered when one of them is
 * accepted, so that a refusal alone never changes later calls.
 */
export function learnRefusals(input: GatewayCall, memory: AbilityMemory): Learning {
  const known = memory.known();
  let abilities = input.abilities ?? {};
  let learned: ModelAbilities = {};
  let dropped: ModelAbilities = {};
  let { maxOutputTokens } = input;
  let lessons = 0;
  /** Names of the output limit that the server has refused in this call. */
  const refusedLimits = new Set<ModelAbilities['outputLimit']>();

  function drop(): void {
    dropped = known;
    abilities = without(abilities, known);
    learned = {};
  }

  function call(): GatewayCall {
    const { outputLimit, ...others } = { ...abilities, ...without(known, dropped), ...learned };
    const isKept = outputLimit !== undefined && (outputLimit !== 'none' || input.limitMayGo === true);
    return { ...input, maxOutputTokens, abilities: isKept ? { ...others, outputLimit } : others };
  }

  /**
   * Returns the lesson of a refused output limit; undefined if the request must have a limit and the server has refused
   * both names of the field.
   */
  function withLimit({ outputLimit, ...others }: ModelAbilities): ModelAbilities | undefined {
    if (outputLimit === undefined) return others;
    refusedLimits.add(outputLimit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens');
    if (!refusedLimits.has(outputLimit)) return { ...others, outputLimit };
    return input.limitMayGo === true ? { ...others, outputLimit: 'none' } : undefined;
  }

  if (input.afresh === true) drop();
  return {
    call,
    learn(refusal) {
      if (refusal === undefined || refusal.begun || lessons >= MAX_LESSONS) return false;
      lessons += 1;
      const { outputLeft, isOverflow } = refusal.lesson;
      const lesson = refusal.lesson.learned && withLimit(refusal.lesson.learned);
      if (outputLeft !== undefined && (maxOutputTokens ?? Infinity) > outputLeft) {
        maxOutputTokens = outputLeft;
      } else if (lesson === undefined || isHeld(lesson, call().abilities ?? {})) {
        // The server may have been replaced or upgraded since the earlier lessons: repeat the request without them.
        if (isOverflow || dropped === known || Object.keys(known).length === 0) return false;
        if (refusal.status !== 400 && refusal.status !== 422) return false;
        drop();
        return true;
      }
      learned = { ...learned, ...lesson };
      return true;
    },
    async keep(outputTokens) {
      const { outputLimit, ...others } = learned;
      // A server that wrote more than the limit does not obey the limit under its new name: do not keep that lesson.
      const isObeyed = outputTokens <= (maxOutputTokens ?? Infinity);
      const kept = outputLimit === undefined || !isObeyed ? others : learned;
      const forgotten = Object.fromEntries(Object.entries(dropped).filter(([name]) => !(name in kept)));
      if (Object.keys(forgotten).length > 0) await memory.forget(forgotten);
      if (Object.keys(kept).length > 0) await memory.learn(kept);
    },
  };
}

/** Removes the learned abilities, which the directory has added. */
function without(abilities: ModelAbilities, learned: ModelAbilities): ModelAbilities {
  return Object.fromEntries(Object.entries(abilities).filter(([name]) => !(name in learned)));
}

function isHeld(lesson: ModelAbilities, held: ModelAbilities): boolean {
  const values: Readonly<Record<string, unknown>> = { ...held };
  return Object.entries(lesson).every(([name, value]) => values[name] === value);
}
