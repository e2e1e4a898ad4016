/**
 * An answer of a model whose token counts are numbers, as the interface has them. Some gateways write them as decimal
 * texts, for which the model library would refuse the whole answer; anything that is not a whole number is left for
 * it to refuse.
 */
export function withNumericUsage(body: string): string {
  if (!COUNT_AS_TEXT.test(body)) return body;
  try {
    const answer: unknown = JSON.parse(body);
    if (!isObject(answer) || !isObject(answer['usage'])) return body;
    return JSON.stringify({ ...answer, usage: withNumbers(answer['usage']) });
  } catch {
    return body;
  }
}

/** Looked for first: most answers are not parsed here at all. Inside of a text the quotes would be escaped. */
const COUNT_AS_TEXT = /"\w{1,60}_tokens"\s*:\s*"/;
const WHOLE_NUMBER = /^\d{1,15}$/;

function withNumbers(usage: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(usage).map(([name, value]) => {
      if (name.endsWith('_tokens') && typeof value === 'string' && WHOLE_NUMBER.test(value)) {
        return [name, Number(value)];
      }
      return [name, name.endsWith('_details') && isObject(value) ? withNumbers(value) : value];
    }),
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
