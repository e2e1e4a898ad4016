import type { Shape } from '#ui/api/types.ts';

type Usage = Shape<'Usage'>;

/** Adds up what the steps so far have used, while the run itself does not yet say. */
export function totalOf(steps: readonly { readonly usage: Usage }[]): Usage {
  const sum = (of: (usage: Usage) => number) =>
    steps.reduce((total, { usage }) => total + of(usage), 0);
  const priced = steps.flatMap(({ usage }) => (usage.costUsd === null ? [] : [usage.costUsd]));
  return {
    inputTokens: sum(({ inputTokens }) => inputTokens),
    cachedInputTokens: sum(({ cachedInputTokens }) => cachedInputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    reasoningTokens: sum(({ reasoningTokens }) => reasoningTokens),
    totalTokens: sum(({ totalTokens }) => totalTokens),
    costUsd:
      priced.length === 0 ? null : String(priced.reduce((total, cost) => total + Number(cost), 0)),
    estimated: steps.some(({ usage }) => usage.estimated),
  };
}
