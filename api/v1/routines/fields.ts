import { z } from 'zod';
import { DEFINITION, fieldsWith, shownOf, type Fields } from '#core/authoring/definition/index.ts';
import { idOf } from '../../http/schemas.ts';

/** Fields of a changed routine that an assistant sees. */
export const CHANGED_ROUTINE = ['id', 'name', 'state', 'stateReason', 'revision', 'nextRunAt'] as const;

export const routineParams = z.strictObject({ routineId: idOf('routine') });

/** The schema of each field in responses. All responses with the field share it. */
const named = new WeakMap<z.ZodType, z.ZodType>();

/** Returns the shape of the fields in responses, each a schema of its own in OpenAPI. */
export function responseFields<T extends Fields>(fields: T): ReturnType<typeof shownOf<T>> {
  const shapes = Object.entries(shownOf<Fields>(fields)).map(([name, schema]) => {
    const id = `Routine${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const known = named.get(schema) ?? schema.meta({ id });
    named.set(schema, known);
    return [name, known];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fromEntries forgets which field is which
  return Object.fromEntries(shapes) as ReturnType<typeof shownOf<T>>;
}

/** Every field of a routine that people set. */
export const FIELDS = fieldsWith(DEFINITION);
