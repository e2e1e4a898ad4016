import type { Figures, FigureOrigin, Origins } from './model.ts';

/** Figures of one origin, which need not know them all. */
export type SomeFigures = { readonly [Name in keyof Figures]?: Figures[Name] | undefined };

export interface Completed {
  readonly figures: Figures;
  readonly origins: Origins;
}

/** Completes figures by origin: of each, the first that is known. */
export function firstKnown(
  candidates: readonly (readonly [FigureOrigin, SomeFigures])[],
): Completed {
  const first = <Name extends keyof Figures>(name: Name) => {
    for (const [origin, { [name]: figure }] of candidates) {
      if (figure !== undefined && figure !== null) return { figure, origin };
    }
    return { figure: null, origin: null };
  };
  const [contextTokens, maxOutputTokens, prices] = [
    first('contextTokens'),
    first('maxOutputTokens'),
    first('prices'),
  ];
  return {
    figures: {
      contextTokens: contextTokens.figure,
      maxOutputTokens: maxOutputTokens.figure,
      prices: prices.figure,
    },
    origins: {
      contextTokens: contextTokens.origin,
      maxOutputTokens: maxOutputTokens.origin,
      prices: prices.origin,
    },
  };
}
