import { z } from 'zod';
import { CalculationError } from './calculation-error.ts';

export type CalculateOutcome =
  | { readonly ok: true; readonly result: object }
  | { readonly ok: false; readonly error: string };

export interface Operation {
  /** JSON Schemas of its fields by name. */
  readonly properties: Readonly<Record<string, unknown>>;
  run(fields: object): CalculateOutcome;
}

const SHOWN_FAULTS = 5;

/** Ties a function to the schema of its input; errors come back in words. */
export function operation<Schema extends z.ZodObject>(
  schema: Schema,
  compute: (input: z.output<Schema>) => object,
): Operation {
  return {
    properties: z.toJSONSchema(schema).properties ?? {},
    run(fields) {
      const parsed = schema.safeParse(fields);
      if (!parsed.success) {
        const faults = parsed.error.issues.map(({ path, message }) =>
          path.length === 0 ? message : `${path.join('.')}: ${message}`,
        );
        return { ok: false, error: faults.slice(0, SHOWN_FAULTS).join('; ') };
      }
      try {
        return { ok: true, result: compute(parsed.data) };
      } catch (error) {
        if (error instanceof CalculationError) return { ok: false, error: error.message };
        throw error;
      }
    },
  };
}
