import type { CallToolResult } from '@modelcontextprotocol/client';
import { assertUsableSchema, schemaFault, SchemaError } from './json-schema.ts';
import type { ToolPolicy } from './policy.ts';

type Declares = Pick<ToolPolicy, 'outputSchema'>;

/** Why no answer of the tool could be checked, found before anything is sent; undefined when it can be. */
export function uncheckable({ outputSchema }: Declares): string | undefined {
  if (outputSchema === null) return undefined;
  try {
    assertUsableSchema(outputSchema);
    return undefined;
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return 'the output schema of the tool is not usable, so its answer could not be checked';
  }
}

/**
 * What is wrong with an answer by the output schema of its tool, or undefined: where a tool declares one, structured
 * content has to be there and to fit it (MCP, "Tools: Output Schema"). An error that the tool reports is exempt, as it
 * has no result.
 */
export function answerFault(
  { outputSchema }: Declares,
  { isError, structuredContent }: CallToolResult,
): string | undefined {
  if (outputSchema === null || isError === true) return undefined;
  if (structuredContent === undefined) {
    return 'the tool declares an output schema and its answer has no structured content';
  }
  try {
    return schemaFault(outputSchema, structuredContent) === undefined
      ? undefined
      : 'the structured content of the answer does not fit the output schema of the tool';
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return 'the answer could not be checked against the output schema of the tool';
  }
}
