import type { CallToolResult } from '@modelcontextprotocol/client';
import { assertUsableSchema, schemaFault, SchemaError } from './json-schema.ts';
import type { ToolPolicy } from './policy.ts';

type Declares = Pick<ToolPolicy, 'projectId' | 'outputSchema'>;

/** Tells before anything is sent whether a result of the tool could be checked. */
export async function canCheckResult({ projectId, outputSchema }: Declares): Promise<boolean> {
  if (outputSchema === null) return true;
  try {
    await assertUsableSchema(projectId, outputSchema);
    return true;
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return false;
  }
}

/**
 * Says what is wrong with a result by the output schema of its tool, or undefined: where a tool declares one,
 * structured content has to be there and to fit it (MCP, "Tools: Output Schema"). An error that the tool reports is
 * exempt, as it has no result.
 */
export async function resultFault(
  { projectId, outputSchema }: Declares,
  { isError, structuredContent }: CallToolResult,
): Promise<string | undefined> {
  if (outputSchema === null || isError === true) return undefined;
  if (structuredContent === undefined) {
    return 'the tool declares an output schema and its answer has no structured content';
  }
  try {
    return (await schemaFault(projectId, outputSchema, structuredContent)) === undefined
      ? undefined
      : 'the structured content of the answer does not fit the output schema of the tool';
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return 'the answer could not be checked against the output schema of the tool';
  }
}
