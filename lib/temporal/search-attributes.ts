import type { OperatorService } from '@temporalio/client';
import proto from '@temporalio/proto';
import { SEARCH_ATTRIBUTE } from './names.ts';

const { INDEXED_VALUE_TYPE_KEYWORD } = proto.temporal.api.enums.v1.IndexedValueType;

/** The names of the search attributes that workflows carry; all are keywords. */
export const SEARCH_ATTRIBUTE_NAMES: readonly string[] = Object.values(SEARCH_ATTRIBUTE).map(
  ({ name }) => name,
);

/**
 * Registers the search attributes that the namespace lacks: without them the server refuses to start a workflow.
 * Throws where the credentials may not do that, as in Temporal Cloud, where an administrator does it.
 * @returns the names registered now
 */
export async function ensureSearchAttributes(
  operator: OperatorService,
  namespace: string,
): Promise<readonly string[]> {
  const { customAttributes } = await operator.listSearchAttributes({ namespace });
  const missing = SEARCH_ATTRIBUTE_NAMES.filter((name) => !(name in (customAttributes ?? {})));
  if (missing.length > 0) {
    await operator.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        missing.map((name) => [name, INDEXED_VALUE_TYPE_KEYWORD]),
      ),
    });
  }
  return missing;
}
