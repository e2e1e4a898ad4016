/** An input that has no result; the message is written for the model that sent it. */
export class CalculationError extends Error {
  override readonly name = 'CalculationError';
}
