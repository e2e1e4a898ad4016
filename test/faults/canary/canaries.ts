import { randomBytes } from 'node:crypto';

/** Values that occur nowhere else, by name. */
export class Canaries {
  readonly #values = new Map<string, string>();

  /** Makes a new value of letters and digits. */
  make(name: string, prefix = ''): string {
    return this.add(name, `${prefix}Canary${randomBytes(18).toString('hex')}`);
  }

  add(name: string, value: string): string {
    if (value.length < 20) throw new Error(`${name} is too short to be told apart`);
    this.#values.set(name, value);
    return value;
  }

  /** Returns the names of the values that the text contains, plainly or in a reversible encoding. */
  foundIn(text: string, names: Iterable<string> = this.#values.keys()): string[] {
    return [...names].filter((name) => {
      const value = this.#values.get(name);
      if (value === undefined) throw new Error(`no canary ${name}`);
      return spellings(value).some((spelling) => text.includes(spelling));
    });
  }

  names(...without: string[]): string[] {
    return [...this.#values.keys()].filter((name) => !without.includes(name));
  }
}

function spellings(value: string): string[] {
  const plain = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
  return [...plain, Buffer.from(value).toString('hex'), ...inBase64(value)];
}

/**
 * Encodes a value as base64 at each of the three offsets that it may have in a longer text, without the characters that
 * it shares with its neighbours.
 */
function inBase64(value: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
    const from = [0, 2, 3][offset];
    return [bytes.toString('base64').replace(/=*$/, '').slice(from, -2), bytes.toString('base64url').slice(from, -2)];
  });
}
