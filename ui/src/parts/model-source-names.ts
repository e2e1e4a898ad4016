import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';

/** Returns a function that names the source of a model as the person knows it. */
export function useSourceNames(): (option: Pick<Shape<'ModelOption'>, 'source'>) => string {
  const sources = useRead('/v1/model-sources', {}, { staleMs: 60_000 });
  const several = (sources.data?.length ?? 0) > 1;
  return ({ source: name }) => {
    if (name === null) return 'Personal account';
    const source = sources.data?.find((each) => each.name === name);
    if (source === undefined) return 'Models of this service';
    if (source.local) return `Your own server, ${source.label}`;
    return several ? source.label : 'Models of this service';
  };
}
