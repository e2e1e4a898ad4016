/** A map that computes what it lacks and drops its oldest entry beyond `capacity`. */
export class BoundedCache<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The cached value, or what `compute` returns; nothing is kept when it throws. */
  get(key: Key, compute: (key: Key) => Value): Value {
    const cached = this.#entries.get(key);
    if (cached !== undefined) return cached;
    const value = compute(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#capacity) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    return value;
  }
}
