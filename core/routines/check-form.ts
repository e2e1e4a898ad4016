import { assertUsableSchema, schemaRefusal } from '#core/tools/index.ts';
import { invalid } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import { contradictionOf } from './contradiction.ts';
import { keyFault } from './key-fault.ts';
import type { ResultKey } from './result-section.ts';

/**
 * Checks the form of results: a JSON Schema that compiles within the limits for schemas and that some value satisfies,
 * and a key that items by it can have.
 * @throws {AppError} `invalid_request`, `rate_limited` while many other schemas of the project are being checked
 */
export async function checkForm(
  projectId: string,
  schema: JsonObject | null,
  key: ResultKey | null,
): Promise<void> {
  if (schema === null) {
    if (key === null) return;
    throw refused('resultKey', 'names items of what a resultSchema describes, and there is none');
  }
  try {
    await assertUsableSchema(projectId, schema);
  } catch (error) {
    throw schemaRefusal(error, 'resultSchema');
  }
  const at = contradictionOf(schema);
  if (at !== undefined) {
    throw refused('resultSchema', `nothing can satisfy it: see ${at === '' ? 'its root' : at}`);
  }
  const fault = key === null ? undefined : keyFault(schema, key);
  if (fault !== undefined) throw refused(`resultKey.${fault.at}`, fault.message);
}

function refused(path: string, message: string) {
  return invalid([{ path, message }]);
}
