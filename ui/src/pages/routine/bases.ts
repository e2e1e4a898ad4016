import type { Shape } from '#ui/api/types.ts';

/** Words for what the cost of a run is estimated from. */
export const BASES: Readonly<Record<Shape<'RunEstimate'>['basis'], string>> = {
  version_runs: 'from past runs of this version',
  proof_run: 'from its only run so far',
  limits: 'by its limits; it has not run yet',
};
