import { ERRORS, type AppError } from './errors.ts';

/** Returns the body of a failure. */
export function failureBody(error: AppError, requestId: string): string {
  return JSON.stringify({
    error: { code: error.code, message: error.message || ERRORS[error.code][1] },
    requestId,
  });
}
