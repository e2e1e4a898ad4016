/** A value of a form in brackets: `items[0][price]=x` is an object with a list. */
export interface Form {
  [name: string]: string | Form;
}

/** Parses a form in the bracket notation of the processor's API. Lists become objects with numbers as names. */
export function parseForm(text: string): Form {
  const form: Form = {};
  for (const [key, value] of new URLSearchParams(text)) {
    const [first = '', ...rest] = key.split(/\[|\]\[?/).filter((part) => part !== '');
    const path = [first, ...rest];
    const last = path.pop() ?? '';
    let place = form;
    for (const part of path) {
      const found = place[part];
      place = typeof found === 'object' ? found : (place[part] = {});
    }
    // `expand[]` has no index, so it gets the next one.
    place[key.endsWith('[]') ? `${last}${Object.keys(place).length}` : last] = value;
  }
  return form;
}

export function text(form: Form, name: string): string | undefined {
  const value = form[name];
  return typeof value === 'string' ? value : undefined;
}

export function group(form: Form, name: string): Form {
  const value = form[name];
  return typeof value === 'object' ? value : {};
}

/** Returns the values of a list or the pairs of a map, all of which must be texts. */
export function texts(form: Form, name: string): Record<string, string> {
  const pairs = Object.entries(group(form, name));
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
}
