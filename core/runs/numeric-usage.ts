import { isJsonObject, type JsonObject } from '#lib/json.ts';

/**
 * Rewrites the token counts of a model's response as numbers. Some gateways send them as decimal texts, for which the
 * model library would refuse the whole response. Anything but a whole number is left for the library to refuse.
 */
export function withNumericUsage(body: string): string {
  if (!COUNT_AS_TEXT.test(body)) return body;
  try {
    const answer: unknown = JSON.parse(body);
    if (!isJsonObject(answer) || !isJsonObject(answer['usage'])) return body;
    return JSON.stringify({ ...answer, usage: withNumbers(answer['usage']) });
  } catch {
    return body;
  }
}

/**
 * Matches a count as text. It is searched for first, so that most responses are not parsed here; within a JSON string
 * the quotes would be escaped.
 */
const COUNT_AS_TEXT = /"\w{1,60}_tokens"\s*:\s*"/;
const WHOLE_NUMBER = /^\d{1,15}$/;

function withNumbers(usage: JsonObject): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(usage).map(([name, value]) => {
      if (name.endsWith('_tokens') && typeof value === 'string' && WHOLE_NUMBER.test(value)) {
        return [name, Number(value)];
      }
      return [name, name.endsWith('_details') && isJsonObject(value) ? withNumbers(value) : value];
    }),
  );
}
