/**
 * Returns a function that computes its result once for each object and keeps it as long as the object lives: for what
 * many are given of one object that nobody changes.
 */
export function oncePerObject<T extends object, R>(compute: (object: T) => R): (object: T) => R {
  const results = new WeakMap<T, { readonly result: R }>();
  return (object) => {
    let found = results.get(object);
    if (found === undefined) results.set(object, (found = { result: compute(object) }));
    return found.result;
  };
}
