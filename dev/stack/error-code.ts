/** Returns the code of a system error such as ENOENT, or of a database error such as 57P03; undefined for others. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
