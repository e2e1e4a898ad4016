import { ModelFailure, Stop, type ModelCaller } from '#core/execution/steps/index.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { Tracing } from '#lib/tracing.ts';

/** Measures and traces each call by the GenAI conventions of OpenTelemetry, without prompt and completion. */
export function observeModelCalls(
  caller: ModelCaller,
  { metrics, tracing }: { metrics: Metrics; tracing: Tracing },
): ModelCaller {
  return {
    ...caller,
    call(input) {
      const provider = input.account?.provider ?? 'gateway';
      // A label must have few values, and an account may list any number of models: name its provider instead.
      const model = input.account === undefined ? input.modelId : provider;
      const started = performance.now();
      const observe = (outcome: string) =>
        metrics.modelCall({ model, outcome, seconds: (performance.now() - started) / 1_000 });
      const attributes = {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': provider,
        'gen_ai.request.model': input.modelId,
      };
      return tracing.span(`chat ${input.modelId}`, { kind: 'client', attributes }, async (span) => {
        try {
          const answer = await caller.call(input);
          const { usage, finishReason } = answer;
          observe('ok');
          metrics.modelTokens(model, {
            input: usage.inputTokens,
            cached: usage.cachedInputTokens,
            output: usage.outputTokens,
            reasoning: usage.reasoningTokens,
          });
          span.set({
            'gen_ai.usage.input_tokens': usage.inputTokens,
            'gen_ai.usage.output_tokens': usage.outputTokens,
            'gen_ai.response.finish_reasons': [finishReason],
          });
          return answer;
        } catch (error) {
          const outcome = outcomeOf(error, input.signal);
          observe(outcome);
          span.set({ 'error.type': outcome });
          throw error;
        }
      });
    },
  };
}

function outcomeOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof ModelFailure) return error.reason;
  if (error instanceof Stop) {
    const { consequence } = error;
    if (consequence.kind === 'ends') return consequence.ending.reason ?? 'internal_error';
    return consequence.kind === 'waits' ? 'busy' : 'overtaken';
  }
  return signal.aborted ? 'cancelled' : 'internal_error';
}
