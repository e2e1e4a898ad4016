/** Compiles within a second or two on a busy machine; the largest tools in public use have some hundreds. */
const MAX_NODES = 2_000;

/** Compiles within some 20 ms, also on a busy machine. */
const QUICK_NODES = 60;
/** Limit for a schema and for a value, as JSON: the time of a quick check is at most proportional to their product. */
const QUICK_LENGTH = 10_000;

/**
 * The keywords by which a small schema can take for ever: regular expressions, comparisons of all with all, and
 * references, which multiply. A property of such a name is taken for the keyword, which costs time and no more.
 */
const UNBOUNDED =
  /"(?:pattern|patternProperties|format|uniqueItems|\$ref|\$dynamicRef|\$recursiveRef)":/;

type JsonObject = Readonly<Record<string, unknown>>;

/** Tells whether a schema has more nodes than anybody should have to compile. */
export function isTooLarge(schema: JsonObject): boolean {
  return countNodes(schema, MAX_NODES + 1) > MAX_NODES;
}

/** Tells whether a schema compiles quickly, and then checks a small value quickly whatever the value. */
export function isQuick(schema: JsonObject, json: string): boolean {
  return (
    isSmall(json) && !UNBOUNDED.test(json) && countNodes(schema, QUICK_NODES + 1) <= QUICK_NODES
  );
}

export function isSmall(json: string): boolean {
  return json.length <= QUICK_LENGTH;
}

/** Counts what may be a schema, objects and booleans, up to `most`. */
function countNodes(root: unknown, most: number): number {
  const waiting = [root];
  let nodes = 0;
  while (waiting.length > 0 && nodes < most) {
    const value = waiting.pop();
    if (typeof value === 'boolean') nodes += 1;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) nodes += 1;
    for (const member of Object.values(value)) waiting.push(member);
  }
  return nodes;
}
